//! The scenario file: typed, checked and resolved
