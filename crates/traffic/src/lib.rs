//! Sources, sinks and flows
