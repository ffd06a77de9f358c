//! SHA-256 in hexadecimal.

use sha2::{Digest, Sha256};

use crate::problems::Problems;

/// The bytes hashed between two calls of the watch.
const STEP_BYTES: usize = 4 << 20;

/// The hash of a long text; on an interrupt, that of the part read so far.
pub(crate) fn of_text(text: &str, problems: &mut Problems) -> String {
    let mut hasher = Sha256::new();
    for step in text.as_bytes().chunks(STEP_BYTES) {
        if !problems.go_on() {
            break;
        }
        hasher.update(step);
    }
    hex(&hasher.finalize())
}

/// The hash of a short text.
pub(crate) fn of_name(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}
