//! Probes and result columns
