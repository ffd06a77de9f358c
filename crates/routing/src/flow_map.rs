//! Maps by flow and direction.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by [`backlane_net::Packet::flow_key`].
pub(crate) type FlowMap<T> = HashMap<u64, T, BuildHasherDefault<KeyHasher>>;

/// Multiplies by 2⁶⁴/φ; the same on all platforms, and no result depends on the order of entries.
#[derive(Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("keys are words");
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
