//! Sums that do not depend on the order of the values.

/// The exact sum of finite values, rounded once (Shewchuk 1997), as Python's `math.fsum`. With a
/// value that is not finite, their plain sum.
pub fn exact_sum(values: impl IntoIterator<Item = f64>) -> f64 {
    // Parts that do not overlap, in increasing order.
    let mut parts: Vec<f64> = Vec::new();
    let mut special = 0.0;
    for value in values {
        if !value.is_finite() {
            special += value;
            continue;
        }
        let mut rest = value;
        let mut kept = 0;
        for index in 0..parts.len() {
            let part = parts[index];
            let (large, small) = if rest.abs() < part.abs() {
                (part, rest)
            } else {
                (rest, part)
            };
            let sum = large + small;
            let lost = small - (sum - large);
            if lost != 0.0 {
                parts[kept] = lost;
                kept += 1;
            }
            rest = sum;
        }
        parts.truncate(kept);
        parts.push(rest);
    }
    if special != 0.0 || special.is_nan() {
        return special;
    }
    rounded(&parts)
}

/// The sum of parts that do not overlap, rounded half to even.
fn rounded(parts: &[f64]) -> f64 {
    let mut left = parts.iter().rev().copied();
    let Some(mut high) = left.next() else {
        return 0.0;
    };
    let mut low = 0.0;
    for part in left.by_ref() {
        let before = high;
        high = before + part;
        low = part - (high - before);
        if low != 0.0 {
            break;
        }
    }
    // A tie is decided by the sign of what remains.
    if let Some(next) = left.next()
        && ((low < 0.0 && next < 0.0) || (low > 0.0 && next > 0.0))
    {
        let twice = low * 2.0;
        let up = high + twice;
        if twice == up - high {
            high = up;
        }
    }
    high
}

/// The arithmetic mean; NaN for no values.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    exact_sum(values.iter().copied()) / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_to_rounding() {
        assert_eq!(exact_sum([0.1; 10]), 1.0);
        assert_eq!(exact_sum([1e100, 1.0, -1e100]), 1.0);
        assert_eq!(exact_sum([1e16, 1.0, 1e-16]), 10_000_000_000_000_002.0);
        assert_eq!(exact_sum([]), 0.0);
        assert!(exact_sum([f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        assert_eq!(exact_sum([1.0, f64::INFINITY]), f64::INFINITY);
    }
}
