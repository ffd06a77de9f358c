//! A capture is a sequence of complete blocks, from which all its contents can be read.

use backlane_record::pcapng::{LinkType, Pcapng};

use crate::choices::Choices;

const NAMES: u32 = 4;
const PACKET: u32 = 6;

/// Writes a capture as the bytes choose, and reads it with a reader of its own.
///
/// # Panics
/// If a block is incomplete, or differs from what was written.
pub fn pcapng(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let [application, comment] = [0, 1].map(|_| text(&mut choices));
    let mut file = Pcapng::new(&application, &comment);
    let names: Vec<(u32, String)> = (0..choices.below(4))
        .map(|_| (choices.number(4) as u32, text(&mut choices)))
        .collect();
    file.names(
        names
            .iter()
            .map(|(address, name)| (*address, name.as_str())),
    );
    let links = [LinkType::RAW, LinkType::IEEE802_11];
    let interfaces = choices.below(4) as u32;
    for number in 0..interfaces {
        let name = text(&mut choices);
        assert_eq!(file.interface(&name, choices.of(&links)), number);
    }
    let mut packets = Vec::new();
    while interfaces > 0 && !choices.is_empty() {
        let interface = choices.below(interfaces as usize) as u32;
        let (nanoseconds, sent) = (choices.number(8), choices.chance(128));
        let length = choices.below(100);
        let (kept, size) = (choices.take(length), choices.number(2) as u32);
        file.packet(interface, nanoseconds, sent, &kept, size);
        packets.push((interface, nanoseconds, kept, size));
    }
    let blocks = blocks(&file.take());
    assert_eq!(blocks.len(), 2 + interfaces as usize + packets.len());
    assert_eq!(blocks[1].0, NAMES);
    let written = blocks.iter().filter(|(kind, _)| *kind == PACKET);
    for ((_, body), (interface, nanoseconds, kept, size)) in written.zip(&packets) {
        let words: Vec<u32> = (0..5).map(|at| word(body, 4 * at)).collect();
        assert_eq!(words[0], *interface);
        let time = u64::from(words[1]) << 32 | u64::from(words[2]);
        assert_eq!((time, words[3] as usize), (*nanoseconds, kept.len()));
        assert_eq!(words[4], (*size).max(kept.len() as u32));
        assert_eq!(body[20..20 + kept.len()], kept[..]);
    }
}

/// Types and bodies of the blocks of a whole file.
///
/// # Panics
/// If the lengths before and after a block differ, or there is no whole block.
pub(crate) fn blocks(mut bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let mut blocks = Vec::new();
    while !bytes.is_empty() {
        let (kind, length) = (word(bytes, 0), word(bytes, 4) as usize);
        assert!(length >= 12 && length.is_multiple_of(4) && length <= bytes.len());
        assert_eq!(word(bytes, length - 4) as usize, length);
        blocks.push((kind, bytes[8..length - 4].to_vec()));
        bytes = &bytes[length..];
    }
    blocks
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..at + 4).and_then(|word| word.try_into().ok());
    u32::from_le_bytes(word.expect("a whole word"))
}

/// A text, now and then one that is longer than an option may be.
fn text(choices: &mut Choices) -> String {
    let length = choices.below(40);
    let text = String::from_utf8_lossy(&choices.take(length)).into_owned();
    if choices.chance(4) {
        text.repeat(4000)
    } else {
        text
    }
}
