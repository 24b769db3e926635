//! keyplan
