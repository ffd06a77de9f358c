//! A sans-I/O TCP endpoint
