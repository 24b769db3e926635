//! The key spaces of five real systems.
