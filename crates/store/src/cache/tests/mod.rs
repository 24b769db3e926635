mod interleavings;
