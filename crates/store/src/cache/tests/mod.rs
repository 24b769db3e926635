mod interleavings;
mod threads;
