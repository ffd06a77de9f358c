//! The Python bindings
