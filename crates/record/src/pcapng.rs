//! Captures as pcapng files (draft-ietf-opsawg-pcapng): one section, its interfaces, the names of
//! addresses, and a block for each packet with nanoseconds.

/// The first header of the packets of an interface: a `LINKTYPE_` number of the pcap registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkType(pub u16);

impl LinkType {
    /// IPv4 headers (`LINKTYPE_RAW`).
    pub const RAW: Self = Self(101);
    /// 802.11 headers, no check sequence at the end (`LINKTYPE_IEEE802_11`).
    pub const IEEE802_11: Self = Self(105);
}

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const NAMES: u32 = 4;
const PACKET: u32 = 6;
/// The order in which its bytes appear is the byte order of the file.
const BYTE_ORDER: u32 = 0x1a2b_3c4d;

const OPT_END: u16 = 0;
const OPT_COMMENT: u16 = 1;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const IF_FCSLEN: u16 = 13;
const EPB_FLAGS: u16 = 2;
const NRB_IPV4: u16 = 1;

/// A capture of one node. A packet has the bytes that were given, and its size on the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pcapng {
    bytes: Vec<u8>,
    interfaces: u32,
}

impl Pcapng {
    /// A file with the name of the application that writes it, and a comment.
    pub fn new(application: &str, comment: &str) -> Self {
        let mut file = Self {
            bytes: Vec::new(),
            interfaces: 0,
        };
        file.block(SECTION_HEADER, |out| {
            put32(out, BYTE_ORDER);
            put16(out, 1);
            put16(out, 0);
            // The length of the section is not specified.
            out.extend_from_slice(&u64::MAX.to_le_bytes());
            option(out, OPT_COMMENT, comment.as_bytes());
            option(out, SHB_USERAPPL, application.as_bytes());
            option(out, OPT_END, &[]);
        });
        file
    }

    /// Adds the names of IPv4 addresses.
    pub fn names<'a>(&mut self, names: impl IntoIterator<Item = (u32, &'a str)>) {
        self.block(NAMES, |out| {
            for (address, name) in names {
                let mut record = address.to_be_bytes().to_vec();
                record.extend_from_slice(name.as_bytes());
                record.push(0);
                option(out, NRB_IPV4, &record);
            }
            option(out, OPT_END, &[]);
        });
    }

    /// Adds an interface and returns its number.
    pub fn interface(&mut self, name: &str, link: LinkType) -> u32 {
        self.block(INTERFACE, |out| {
            put16(out, link.0);
            put16(out, 0);
            // No limit.
            put32(out, 0);
            option(out, IF_NAME, name.as_bytes());
            // Nanoseconds.
            option(out, IF_TSRESOL, &[9]);
            if link == LinkType::IEEE802_11 {
                option(out, IF_FCSLEN, &[0]);
            }
            option(out, OPT_END, &[]);
        });
        self.interfaces += 1;
        self.interfaces - 1
    }

    /// Adds a packet that an interface sent or received at `nanoseconds`: its first bytes, and its
    /// size on the link.
    pub fn packet(&mut self, interface: u32, nanoseconds: u64, sent: bool, kept: &[u8], size: u32) {
        self.block(PACKET, |out| {
            put32(out, interface);
            put32(out, (nanoseconds >> 32) as u32);
            put32(out, nanoseconds as u32);
            put32(out, kept.len() as u32);
            put32(out, size.max(kept.len() as u32));
            padded(out, kept);
            let direction: u32 = if sent { 2 } else { 1 };
            option(out, EPB_FLAGS, &direction.to_le_bytes());
            option(out, OPT_END, &[]);
        });
    }

    /// The bytes written since the last call; the results of all calls, in order, are the file.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// The number of bytes that [`Pcapng::take`] would return.
    pub fn held_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// A block: its type, its length before and after the body.
    fn block(&mut self, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        put32(&mut self.bytes, kind);
        put32(&mut self.bytes, 0);
        body(&mut self.bytes);
        let length = (self.bytes.len() - start + 4) as u32;
        self.bytes[start + 4..start + 8].copy_from_slice(&length.to_le_bytes());
        put32(&mut self.bytes, length);
    }
}

fn put16(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_le_bytes());
}

fn put32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// To a multiple of four bytes.
fn padded(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(bytes);
    out.resize(out.len() + (4 - bytes.len() % 4) % 4, 0);
}

fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    put16(out, code);
    put16(out, value.len() as u16);
    padded(out, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types and bodies of the blocks, their lengths checked.
    fn blocks(mut bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes[..4].try_into().unwrap());
        let mut blocks = Vec::new();
        while !bytes.is_empty() {
            let length = word(&bytes[4..]) as usize;
            assert_eq!(length % 4, 0);
            assert_eq!(word(&bytes[length - 4..]) as usize, length);
            blocks.push((word(bytes), bytes[8..length - 4].to_vec()));
            bytes = &bytes[length..];
        }
        blocks
    }

    #[test]
    fn a_file_is_a_section_with_names_interfaces_and_packets() {
        let mut file = Pcapng::new("backlane", "one");
        file.names([(0x0a00_0001, "a"), (0x0a00_0002, "node-b")]);
        assert_eq!(file.interface("a-b", LinkType::RAW), 0);
        assert_eq!(file.interface("radio 0", LinkType::IEEE802_11), 1);
        file.packet(1, 0x1_0000_0002, true, &[1, 2, 3, 4, 5], 1500);
        let blocks = blocks(&file.take());
        let kinds: Vec<u32> = blocks.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [SECTION_HEADER, NAMES, INTERFACE, INTERFACE, PACKET]);
        assert_eq!(blocks[0].1[..4], [0x4d, 0x3c, 0x2b, 0x1a]);
        assert_eq!(blocks[1].1[..12], [1, 0, 6, 0, 10, 0, 0, 1, b'a', 0, 0, 0]);
        assert_eq!(blocks[2].1[..2], [101, 0]);
        assert_eq!(blocks[3].1[..2], [105, 0]);
        let expected: [u8; 40] = [
            1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 0xdc, 5, 0, 0, // as it was
            1, 2, 3, 4, 5, 0, 0, 0, // padded
            2, 0, 4, 0, 2, 0, 0, 0, // outbound
            0, 0, 0, 0,
        ];
        assert_eq!(blocks[4].1, expected);
    }

    #[test]
    fn a_file_taken_in_pieces_is_the_file() {
        let written = |takes: bool| {
            let mut file = Pcapng::new("backlane", "two");
            let mut bytes = Vec::new();
            for number in 0..3 {
                let interface = file.interface("a-b", LinkType::RAW);
                assert_eq!(interface, number);
                file.packet(interface, 7, false, &[1; 33], 40);
                if takes {
                    bytes.extend(file.take());
                    assert_eq!(file.held_bytes(), 0);
                }
            }
            bytes.extend(file.take());
            bytes
        };
        assert_eq!(written(true), written(false));
    }
}
