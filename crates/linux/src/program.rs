//! Programs that users name, in the folder of the kernels.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

/// The type of a segment that names the loader of a dynamic program.
const PT_INTERP: u32 = 3;
/// The size of a 64-bit ELF header, and of an entry of its table of segments.
const HEADER_BYTES: usize = 64;
const SEGMENT_BYTES: usize = 56;

/// The programs of a run, each copied once.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    copies: BTreeMap<PathBuf, String>,
}

impl Programs {
    /// The words of a command as a kernel starts it: its program copied to `root`, and addresses in
    /// place of {from} and {to}.
    ///
    /// # Errors
    /// The program cannot be read, or is not static.
    pub(crate) fn command(
        &mut self,
        words: &[String],
        [from, to]: [u32; 2],
        root: &Path,
    ) -> io::Result<Vec<String>> {
        let [from, to] = [from, to].map(|address| Ipv4Addr::from(address).to_string());
        let mut words = words.iter();
        let Some(program) = words.next() else {
            return Ok(Vec::new());
        };
        let program = self.copy(Path::new(program), root)?;
        let arguments = words.map(|word| word.replace("{from}", &from).replace("{to}", &to));
        Ok(std::iter::once(program).chain(arguments).collect())
    }

    fn copy(&mut self, program: &Path, root: &Path) -> io::Result<String> {
        if let Some(copy) = self.copies.get(program) {
            return Ok(copy.clone());
        }
        let bytes = fs::read(program)?;
        is_static(&bytes).map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
        let name = format!("program-{}", self.copies.len());
        fs::copy(program, root.join(&name))?;
        let copy = format!("/{name}");
        self.copies.insert(program.to_owned(), copy.clone());
        Ok(copy)
    }
}

/// Whether a file is a static program of this machine (ELF-64, System V ABI).
fn is_static(bytes: &[u8]) -> Result<(), &'static str> {
    let own = fs::read("/proc/self/exe").unwrap_or_default();
    // Class, byte order and processor are those of this program.
    let same = |at: std::ops::Range<usize>| bytes.get(at.clone()) == own.get(at);
    if bytes.len() < HEADER_BYTES || !bytes.starts_with(b"\x7fELF") {
        return Err("it is no program of Linux");
    }
    if !same(4..6) || !same(18..20) {
        return Err("it is a program of another processor");
    }
    let number = |at: usize, bytes_of: usize| -> Option<usize> {
        let mut all = [0; 8];
        all[..bytes_of].copy_from_slice(bytes.get(at..at + bytes_of)?);
        usize::try_from(u64::from_le_bytes(all)).ok()
    };
    let table = number(32, 8).unwrap_or_default();
    for index in 0..number(56, 2).unwrap_or_default() {
        let kind = table
            .checked_add(index * SEGMENT_BYTES)
            .and_then(|at| number_at(bytes, at));
        match kind {
            None => return Err("it is damaged"),
            Some(PT_INTERP) => return Err("it is not static: link it with -static"),
            Some(_) => {}
        }
    }
    Ok(())
}

fn number_at(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(word.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header of this machine with segments of these types.
    fn program(kinds: &[u32]) -> Vec<u8> {
        let own = fs::read("/proc/self/exe").unwrap();
        let mut bytes = own[..HEADER_BYTES].to_vec();
        bytes[32..40].copy_from_slice(&64_u64.to_le_bytes());
        bytes[56..58].copy_from_slice(&(kinds.len() as u16).to_le_bytes());
        for kind in kinds {
            let mut segment = [0; SEGMENT_BYTES];
            segment[..4].copy_from_slice(&kind.to_le_bytes());
            bytes.extend(segment);
        }
        bytes
    }

    #[test]
    fn a_static_program_has_no_loader() {
        assert_eq!(is_static(&program(&[1, 1])), Ok(()));
        assert!(
            is_static(&program(&[1, PT_INTERP]))
                .unwrap_err()
                .contains("-static")
        );
        assert!(
            is_static(b"#!/bin/sh\n")
                .unwrap_err()
                .contains("no program")
        );
        let mut other = program(&[1]);
        other[18] ^= 1;
        assert!(is_static(&other).unwrap_err().contains("another processor"));
        let mut cut = program(&[1, 1]);
        cut.truncate(100);
        assert!(is_static(&cut).is_err());
        cut[32..40].fill(0xff);
        assert!(is_static(&cut).is_err());
    }

    #[test]
    fn a_command_has_addresses_and_a_copy_that_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tool");
        fs::write(&file, program(&[1])).unwrap();
        let words = [file.to_str().unwrap(), "-c", "{to}", "{from}"].map(str::to_owned);
        let mut programs = Programs::default();
        for _ in 0..2 {
            let command = programs.command(&words, [0x0a00_0001, 0x0a00_0002], folder.path());
            assert_eq!(
                command.unwrap(),
                ["/program-0", "-c", "10.0.0.2", "10.0.0.1"]
            );
        }
        assert!(folder.path().join("program-0").is_file());
    }
}
