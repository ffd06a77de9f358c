//! The field GF(2⁸) of polynomials modulo x⁸ + x⁴ + x³ + x² + 1 (0x11D), of which 2 is a
//! generator: addition is XOR, multiplication goes by logarithms, and over whole slices by the
//! products of the two halves of each byte (Plank, Greenan and Miller, FAST 2013).

use crate::simd;

/// The polynomial of the field, without x⁸.
const POLYNOMIAL: u8 = 0x1D;

/// Powers of 2, twice over so that a sum of two logarithms needs no reduction.
const EXP: [u8; 510] = exp_table();
/// Logarithms to base 2; that of 0 is not one.
const LOG: [u8; 256] = log_table();
/// For each factor: its products with 0 … 15, then with 0x00, 0x10 … 0xF0.
static HALVES: [[u8; 32]; 256] = halves_table();

const fn exp_table() -> [u8; 510] {
    let mut table = [0; 510];
    let mut power = 1u8;
    let mut i = 0;
    while i < 255 {
        table[i] = power;
        table[i + 255] = power;
        let carry = power & 0x80 != 0;
        power <<= 1;
        if carry {
            power ^= POLYNOMIAL;
        }
        i += 1;
    }
    table
}

const fn log_table() -> [u8; 256] {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 255 {
        table[EXP[i] as usize] = i as u8;
        i += 1;
    }
    table
}

const fn halves_table() -> [[u8; 32]; 256] {
    let mut table = [[0; 32]; 256];
    let mut factor = 0;
    while factor < 256 {
        let mut half = 0;
        while half < 16 {
            table[factor][half] = multiply(factor as u8, half as u8);
            table[factor][16 + half] = multiply(factor as u8, (half << 4) as u8);
            half += 1;
        }
        factor += 1;
    }
    table
}

/// The product of two elements.
#[inline]
pub const fn multiply(a: u8, b: u8) -> u8 {
    if a == 0 || b == 0 {
        return 0;
    }
    EXP[LOG[a as usize] as usize + LOG[b as usize] as usize]
}

/// The element whose product with `a` is 1; 0 for 0, which has none.
#[inline]
pub const fn inverse(a: u8) -> u8 {
    if a == 0 {
        return 0;
    }
    EXP[255 - LOG[a as usize] as usize]
}

/// Adds `factor` times `from` to `to`, element by element, as far as the shorter one goes.
#[inline]
pub fn multiply_add(to: &mut [u8], from: &[u8], factor: u8) {
    match factor {
        0 => {}
        1 => {
            for (to, from) in to.iter_mut().zip(from) {
                *to ^= from;
            }
        }
        _ => {
            let halves = &HALVES[factor as usize];
            let done = simd::multiply_add(to, from, halves);
            multiply_add_scalar(&mut to[done..], from.get(done..).unwrap_or(&[]), halves);
        }
    }
}

/// Multiplies every element by `factor`.
pub fn scale(elements: &mut [u8], factor: u8) {
    for element in elements {
        *element = multiply(*element, factor);
    }
}

/// What [`multiply_add`] does where there are no vector instructions, and with the last bytes
/// where there are.
fn multiply_add_scalar(to: &mut [u8], from: &[u8], halves: &[u8; 32]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to ^= halves[usize::from(from & 15)] ^ halves[usize::from(16 + (from >> 4))];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The schoolbook product, from the definition of the field.
    fn schoolbook(a: u8, b: u8) -> u8 {
        let mut product: u16 = 0;
        for bit in 0..8 {
            if b >> bit & 1 == 1 {
                product ^= u16::from(a) << bit;
            }
        }
        for bit in (8..15).rev() {
            if product >> bit & 1 == 1 {
                product ^= 0x11D << (bit - 8);
            }
        }
        product as u8
    }

    fn pairs() -> impl Iterator<Item = (u8, u8)> {
        (0..=255).flat_map(|a| (0..=255).map(move |b| (a, b)))
    }

    #[test]
    fn all_65536_products_are_those_of_the_definition() {
        for (a, b) in pairs() {
            assert_eq!(multiply(a, b), schoolbook(a, b), "{a} * {b}");
        }
    }

    #[test]
    fn every_element_but_zero_has_an_inverse() {
        for a in 1..=255 {
            assert_eq!(schoolbook(a, inverse(a)), 1);
        }
        assert_eq!(inverse(0), 0);
    }

    /// All 256 values stand at each place of a vector, so that every lane sees every pair.
    #[test]
    fn whole_slices_give_all_65536_products_with_vectors_and_without() {
        let from: Vec<u8> = (0..=255).collect();
        for factor in 0..=255 {
            for shift in 0..32 {
                let mut from = from.clone();
                from.rotate_left(shift);
                let expected: Vec<u8> = from.iter().map(|&b| schoolbook(factor, b)).collect();
                let mut to = vec![0; 256];
                multiply_add(&mut to, &from, factor);
                assert_eq!(to, expected, "factor {factor}");
                let mut to = vec![0; 256];
                multiply_add_scalar(&mut to, &from, &HALVES[factor as usize]);
                assert_eq!(to, expected, "factor {factor}, scalar");
            }
        }
    }

    proptest! {
        /// Every path of the machine at any length and alignment, with what was there before.
        #[test]
        fn any_slice_at_any_alignment_is_multiplied_and_added(
            from in prop::collection::vec(any::<u8>(), 0..400),
            to in prop::collection::vec(any::<u8>(), 0..400),
            factor: u8,
            start in 0usize..40,
            to_start in 0usize..40,
        ) {
            let from = from.get(start..).unwrap_or(&[]);
            let to = to.get(to_start..).unwrap_or(&[]);
            let mut expected = to.to_vec();
            for (to, from) in expected.iter_mut().zip(from) {
                *to ^= schoolbook(factor, *from);
            }
            let mut got = to.to_vec();
            multiply_add(&mut got, from, factor);
            prop_assert_eq!(&got, &expected);
            for path in simd::PATHS {
                let mut got = to.to_vec();
                if let Some(done) = path(&mut got, from, &HALVES[factor as usize]) {
                    multiply_add_scalar(&mut got[done..], from.get(done..).unwrap_or(&[]), &HALVES[factor as usize]);
                    prop_assert_eq!(&got, &expected);
                }
            }
        }
    }
}
