//! A resolved scenario becomes a running world
