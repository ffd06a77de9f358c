//! Bytes as a source of choices: any bytes are a case, and a small change is another small case.

/// Bytes, consumed from the front. Without remaining bytes, every choice is the first one.
#[derive(Clone, Debug)]
pub struct Choices {
    bytes: Vec<u8>,
    next: usize,
}

impl Choices {
    /// Choices by these bytes.
    pub fn new(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.to_vec(),
            next: 0,
        }
    }

    /// Whether all bytes are used up.
    pub fn is_empty(&self) -> bool {
        self.next >= self.bytes.len()
    }

    /// The next byte; 0 where none is left.
    pub fn byte(&mut self) -> u8 {
        let byte = self.bytes.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        byte
    }

    /// The next `count` bytes, or as many as are left.
    pub fn take(&mut self, count: usize) -> Vec<u8> {
        let rest = self.bytes.get(self.next..).unwrap_or(&[]);
        let taken = rest[..count.min(rest.len())].to_vec();
        self.next += count;
        taken
    }

    /// A number of `bytes` bytes, at most eight.
    pub fn number(&mut self, bytes: u32) -> u64 {
        (0..bytes.min(8)).fold(0, |number, _| number << 8 | u64::from(self.byte()))
    }

    /// One of `0..bound`; 0 for a bound of 0.
    pub fn below(&mut self, bound: usize) -> usize {
        match bound {
            0 | 1 => 0,
            2..=256 => usize::from(self.byte()) % bound,
            _ => self.number(4) as usize % bound,
        }
    }

    /// True with probability `of_256`/256.
    pub fn chance(&mut self, of_256: u8) -> bool {
        // The first choice, where no bytes are left, is no.
        let byte = self.byte();
        byte != 0 && byte.wrapping_sub(1) < of_256
    }

    /// One of these.
    ///
    /// # Panics
    /// If there is none.
    pub fn of<T: Copy>(&mut self, these: &[T]) -> T {
        these[self.below(these.len())]
    }

    /// A number between 0 and 1, both included.
    pub fn share(&mut self) -> f64 {
        f64::from(self.byte()) / 255.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_bytes_every_choice_is_the_first_one() {
        let mut choices = Choices::new(&[]);
        assert_eq!(choices.of(&[7, 8]), 7);
        assert_eq!((choices.below(1000), choices.number(8)), (0, 0));
        assert!(!choices.chance(255) && choices.is_empty());
        assert_eq!(choices.take(3), Vec::<u8>::new());
    }

    #[test]
    fn bytes_are_used_up_from_the_front() {
        let mut choices = Choices::new(&[3, 1, 2, 255]);
        assert_eq!(choices.of(&["a", "b"]), "b");
        assert_eq!(choices.number(2), 0x102);
        assert_eq!(choices.share(), 1.0);
        assert!(choices.is_empty());
    }
}
