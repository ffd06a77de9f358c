//! The side of a split virtqueue that consumes buffers (virtio 1.1, §2.6).

use std::io;

use crate::memory::Memory;

/// Buffers of a chain may be chained further.
const NEXT: u16 = 1;
/// The driver asks for no interrupt.
const NO_INTERRUPT: u16 = 1;
/// The longest frame with its virtio header; longer chains are refused.
const LONGEST_BYTES: usize = 65_550;

/// A queue, by the addresses of its three parts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ring {
    /// Its size; 0 before it is set up.
    pub size: u16,
    /// Physical address of the descriptors.
    pub descriptors: u64,
    /// Physical address of what the device has used.
    pub used: u64,
    /// Physical address of what the driver makes available.
    pub available: u64,
    /// The number of chains taken so far.
    pub taken: u16,
}

struct Descriptor {
    address: u64,
    bytes: u32,
    flags: u16,
    next: u16,
}

impl Ring {
    /// Takes the next chain of buffers, by its first descriptor.
    ///
    /// # Errors
    /// The driver's addresses are wrong.
    pub fn take(&mut self, memory: &Memory) -> io::Result<Option<u16>> {
        if self.size == 0 || memory.read_u16(self.available + 2)? == self.taken {
            return Ok(None);
        }
        let slot = u64::from(self.taken % self.size);
        let head = memory.read_u16(self.available + 4 + 2 * slot)?;
        self.taken = self.taken.wrapping_add(1);
        Ok(Some(head))
    }

    fn descriptor(&self, memory: &Memory, index: u16) -> io::Result<Descriptor> {
        if index >= self.size {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut bytes = [0; 16];
        memory.read(self.descriptors + 16 * u64::from(index), &mut bytes)?;
        let whole = u128::from_le_bytes(bytes);
        Ok(Descriptor {
            address: whole as u64,
            bytes: (whole >> 64) as u32,
            flags: (whole >> 96) as u16,
            next: (whole >> 112) as u16,
        })
    }

    /// Calls `visit` with the address and the length of each buffer of a chain, until it returns
    /// false.
    fn walk(
        &self,
        memory: &Memory,
        head: u16,
        mut visit: impl FnMut(u64, usize) -> io::Result<bool>,
    ) -> io::Result<()> {
        let mut index = head;
        // A chain has at most as many buffers as the queue.
        for _ in 0..self.size {
            let descriptor = self.descriptor(memory, index)?;
            let goes_on = visit(descriptor.address, descriptor.bytes as usize)?;
            if !goes_on || descriptor.flags & NEXT == 0 {
                return Ok(());
            }
            index = descriptor.next;
        }
        Err(io::ErrorKind::InvalidData.into())
    }

    /// The bytes of a chain that the driver sends.
    ///
    /// # Errors
    /// The driver's addresses are wrong, or the chain is too long.
    pub fn read(&self, memory: &Memory, head: u16) -> io::Result<Vec<u8>> {
        let mut frame = Vec::new();
        self.walk(memory, head, |address, bytes| {
            let start = frame.len();
            if start + bytes > LONGEST_BYTES {
                return Err(io::ErrorKind::InvalidData.into());
            }
            frame.resize(start + bytes, 0);
            memory.read(address, &mut frame[start..])?;
            Ok(true)
        })?;
        Ok(frame)
    }

    /// Writes into a chain that the driver has given for receiving; the bytes that fitted.
    ///
    /// # Errors
    /// The driver's addresses are wrong.
    pub fn write(&self, memory: &Memory, head: u16, frame: &[u8]) -> io::Result<u32> {
        let mut left = frame;
        self.walk(memory, head, |address, bytes| {
            let (now, later) = left.split_at(bytes.min(left.len()));
            memory.write(address, now)?;
            left = later;
            Ok(!left.is_empty())
        })?;
        Ok((frame.len() - left.len()) as u32)
    }

    /// Gives a chain back, of which `bytes` were written; whether the driver wants an interrupt.
    ///
    /// # Errors
    /// The driver's addresses are wrong.
    pub fn give_back(&self, memory: &Memory, head: u16, bytes: u32) -> io::Result<bool> {
        let index = memory.read_u16(self.used + 2)?;
        let slot = u64::from(index % self.size.max(1));
        let mut element = [0; 8];
        element[..4].copy_from_slice(&u32::from(head).to_le_bytes());
        element[4..].copy_from_slice(&bytes.to_le_bytes());
        memory.write(self.used + 4 + 8 * slot, &element)?;
        memory.write(self.used + 2, &index.wrapping_add(1).to_le_bytes())?;
        Ok(memory.read_u16(self.available)? & NO_INTERRUPT == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DESCRIPTORS: u64 = 0;
    const AVAILABLE: u64 = 256;
    const USED: u64 = 512;

    fn queue() -> (Memory, Ring) {
        let file = tempfile::tempfile().unwrap();
        file.set_len(65_536).unwrap();
        let mut memory = Memory::default();
        memory.add(0, 65_536, file, 0);
        let ring = Ring {
            size: 4,
            descriptors: DESCRIPTORS,
            used: USED,
            available: AVAILABLE,
            taken: 0,
        };
        (memory, ring)
    }

    fn describe(memory: &Memory, index: u64, address: u64, bytes: u32, next: Option<u16>) {
        let mut descriptor = Vec::new();
        descriptor.extend(address.to_le_bytes());
        descriptor.extend(bytes.to_le_bytes());
        descriptor.extend(u16::from(next.is_some()).to_le_bytes());
        descriptor.extend(next.unwrap_or(0).to_le_bytes());
        memory.write(DESCRIPTORS + 16 * index, &descriptor).unwrap();
    }

    fn offer(memory: &Memory, number: u16, head: u16) {
        let slot = u64::from(number % 4);
        memory
            .write(AVAILABLE + 4 + 2 * slot, &head.to_le_bytes())
            .unwrap();
        memory
            .write(AVAILABLE + 2, &(number + 1).to_le_bytes())
            .unwrap();
    }

    #[test]
    fn a_chain_of_two_buffers_is_one_frame_and_comes_back_once() {
        let (memory, mut ring) = queue();
        describe(&memory, 2, 1000, 3, Some(1));
        describe(&memory, 1, 2000, 2, None);
        memory.write(1000, b"abc").unwrap();
        memory.write(2000, b"de").unwrap();
        assert_eq!(ring.take(&memory).unwrap(), None);
        offer(&memory, 0, 2);
        let head = ring.take(&memory).unwrap().unwrap();
        assert_eq!(ring.read(&memory, head).unwrap(), b"abcde");
        assert!(ring.give_back(&memory, head, 0).unwrap());
        assert_eq!(memory.read_u16(USED + 2).unwrap(), 1);
        assert_eq!(memory.read_u16(USED + 4).unwrap(), 2);
        assert_eq!(ring.take(&memory).unwrap(), None);
    }

    #[test]
    fn a_frame_fills_the_buffers_in_order_and_is_cut_at_their_end() {
        let (memory, mut ring) = queue();
        describe(&memory, 0, 1000, 3, Some(3));
        describe(&memory, 3, 2000, 3, None);
        offer(&memory, 0, 0);
        let head = ring.take(&memory).unwrap().unwrap();
        assert_eq!(ring.write(&memory, head, b"abcdefgh").unwrap(), 6);
        let mut second = [0; 3];
        memory.read(2000, &mut second).unwrap();
        assert_eq!(&second, b"def");
    }

    #[test]
    fn a_chain_that_leads_back_to_itself_is_refused() {
        let (memory, mut ring) = queue();
        describe(&memory, 0, 1000, 3, Some(1));
        describe(&memory, 1, 1000, 3, Some(0));
        offer(&memory, 0, 0);
        let head = ring.take(&memory).unwrap().unwrap();
        assert!(ring.read(&memory, head).is_err());
        describe(&memory, 0, 1000, 3, Some(99));
        assert!(ring.read(&memory, head).is_err());
    }
}
