//! Radio link control over an air that loses, delays and reorders transport blocks.

mod acknowledged;
mod air;
mod buffers;
mod headers;
mod unacknowledged;
