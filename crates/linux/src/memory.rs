//! The memory of a kernel, which is a file that the kernel maps: read and written as a file, so that
//! an address that a kernel makes up is an error and nothing else.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The regions of a kernel's physical memory.
#[derive(Debug, Default)]
pub struct Memory {
    regions: Vec<Region>,
}

#[derive(Debug)]
struct Region {
    address: u64,
    bytes: u64,
    file: File,
    offset: u64,
}

impl Memory {
    /// Adds a region: `bytes` from this physical address on are those of `file` from `offset` on.
    pub fn add(&mut self, address: u64, bytes: u64, file: File, offset: u64) {
        self.regions.push(Region {
            address,
            bytes,
            file,
            offset,
        });
    }

    /// Forgets all regions.
    pub fn clear(&mut self) {
        self.regions.clear();
    }

    fn find(&self, address: u64, bytes: usize) -> io::Result<(&File, u64)> {
        let region = self.regions.iter().find(|region| {
            let end = address.checked_add(bytes as u64);
            let region_end = region.address.checked_add(region.bytes);
            address >= region.address && end.is_some() && end <= region_end
        });
        let region = region.ok_or(io::ErrorKind::InvalidData)?;
        Ok((&region.file, address - region.address + region.offset))
    }

    /// Reads from a physical address.
    ///
    /// # Errors
    /// The address is in no region.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> io::Result<()> {
        let (file, offset) = self.find(address, bytes.len())?;
        file.read_exact_at(bytes, offset)
    }

    /// Writes to a physical address.
    ///
    /// # Errors
    /// The address is in no region.
    pub fn write(&self, address: u64, bytes: &[u8]) -> io::Result<()> {
        let (file, offset) = self.find(address, bytes.len())?;
        file.write_all_at(bytes, offset)
    }

    /// Reads a number of 16 bits, little-endian as virtio has them.
    ///
    /// # Errors
    /// As [`Memory::read`].
    pub fn read_u16(&self, address: u64) -> io::Result<u16> {
        let mut bytes = [0; 2];
        self.read(address, &mut bytes)?;
        Ok(u16::from_le_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_outside_of_every_region_are_errors() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(8192).unwrap();
        let mut memory = Memory::default();
        memory.add(0x1000, 4096, file, 4096);
        memory.write(0x1ffe, &[1, 2]).unwrap();
        assert_eq!(memory.read_u16(0x1ffe).unwrap(), 0x0201);
        for (address, bytes) in [(0xfff, 2), (0x1fff, 2), (u64::MAX, 2), (0x1000, 4097)] {
            assert!(memory.read(address, &mut vec![0; bytes]).is_err());
        }
    }
}
