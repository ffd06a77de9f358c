//! The decoder returns the originals, as soon as the rank determines them.

use backlane_coding::generation::{Decoder, combine, draw_coefficients};
use backlane_coding::gf256::multiply_add;

use crate::choices::Choices;

const MOST_PACKETS: usize = 300;

/// Decodes combinations that the bytes choose.
///
/// # Panics
/// If a rank or a decoded original is wrong, or the product of slices differs from that of bytes.
pub fn coding(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    products(&mut choices);
    let (size, width) = (1 + choices.below(24), choices.below(70));
    let originals: Vec<u8> = (0..size * width)
        .map(|at| (at * 37 + at / 251) as u8)
        .collect();
    let mut decoder = Decoder::new(size as u8, width);
    let mut known = Elimination::default();
    let mut symbol = Vec::new();
    for number in 0..MOST_PACKETS {
        if choices.is_empty() {
            break;
        }
        let mut coefficients = vec![0; 1 + choices.below(size)];
        match choices.below(4) {
            0 => {
                let taken = choices.take(coefficients.len());
                coefficients[..taken.len()].copy_from_slice(&taken);
            }
            1 => {
                let one = choices.below(coefficients.len());
                coefficients[one] = choices.byte();
            }
            _ => draw_coefficients(choices.number(1), 1, number as u32 % 8, &mut coefficients),
        }
        combine(&originals, width, &coefficients, &mut symbol);
        let is_innovative = decoder.add(&coefficients, &symbol);
        coefficients.resize(size, 0);
        assert_eq!(is_innovative, known.add(coefficients));
        assert_eq!(usize::from(decoder.rank()), known.rows.len());
        for index in 0..size {
            let decoded = decoder.decoded(index as u8);
            assert_eq!(decoded.is_some(), known.tells(index), "{index}");
            if let Some(decoded) = decoded {
                assert_eq!(*decoded, originals[index * width..(index + 1) * width]);
            }
        }
    }
}

/// The product of slices of any length at any place is that of their bytes.
fn products(choices: &mut Choices) {
    let (factor, length) = (choices.byte(), choices.below(100));
    let (from_at, to_at) = (choices.below(40), choices.below(40));
    let from: Vec<u8> = (0..140).map(|at| (at * 29 + 3) as u8).collect();
    let mut to: Vec<u8> = (0..140).map(|at| (at * 13 + 7) as u8).collect();
    let before = to.clone();
    let (there, here) = (to_at..to_at + length, from_at..from_at + length);
    multiply_add(&mut to[there.clone()], &from[here], factor);
    for (at, (after, before)) in to.iter().zip(before).enumerate() {
        let term = if there.contains(&at) {
            product(from[at - to_at + from_at], factor)
        } else {
            0
        };
        assert_eq!(*after, before ^ term, "at {at}");
    }
}

/// A product in GF(256) with the polynomial of the field, by shifts.
fn product(mut a: u8, mut b: u8) -> u8 {
    let mut sum = 0;
    while b > 0 {
        if b & 1 == 1 {
            sum ^= a;
        }
        let carry = a >> 7;
        a = (a << 1) ^ (carry * POLYNOMIAL);
        b >>= 1;
    }
    sum
}

/// What is left of the field's polynomial beyond x⁸.
const POLYNOMIAL: u8 = 0x1D;

fn inverse(a: u8) -> u8 {
    (1..=255).find(|&b| product(a, b) == 1).unwrap_or(0)
}

/// Equations in reduced row echelon form, the plain way.
#[derive(Default)]
struct Elimination {
    rows: Vec<Vec<u8>>,
}

impl Elimination {
    fn add(&mut self, mut row: Vec<u8>) -> bool {
        for other in &self.rows {
            let factor = row[pivot(other)];
            for (value, other) in row.iter_mut().zip(other) {
                *value ^= product(*other, factor);
            }
        }
        if row.iter().all(|&value| value == 0) {
            return false;
        }
        let at = pivot(&row);
        let factor = inverse(row[at]);
        for value in &mut row {
            *value = product(*value, factor);
        }
        for other in &mut self.rows {
            let factor = other[at];
            for (value, new) in other.iter_mut().zip(&row) {
                *value ^= product(*new, factor);
            }
        }
        self.rows.push(row);
        true
    }

    /// Whether the equations determine an original.
    fn tells(&self, index: usize) -> bool {
        let alone = |row: &Vec<u8>| {
            let others = row.iter().enumerate().filter(|(_, value)| **value != 0);
            others.map(|(at, _)| at).eq([index])
        };
        self.rows.iter().any(alone)
    }
}

fn pivot(row: &[u8]) -> usize {
    let first = row.iter().position(|&value| value != 0);
    first.expect("a row of an independent equation")
}
