//! Routing protocols
