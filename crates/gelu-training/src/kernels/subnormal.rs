//! Subnormal numbers are below 2⁻¹²⁶ in size. x86 processors multiply and produce them in microcode,
//! about a hundred times more slowly than other numbers. Each element of a matrix is in as many products
//! as the other matrix has columns. A ReLU and its gradient are exactly 0 for many inputs, but smooth
//! activations and their gradients take all sizes. With a few subnormal numbers per thousand, a network
//! takes several times as long.

/// Returns whether the number is subnormal. Tests its bits, because a comparison would cost what this
/// function is meant to save.
#[inline(always)]
fn is_subnormal(number: f32) -> bool {
    const MAGNITUDE: u32 = u32::MAX >> 1;
    const FIRST_NORMAL: u32 = f32::MIN_POSITIVE.to_bits();
    // The subtraction turns 0 into the largest number of all.
    (number.to_bits() & MAGNITUDE).wrapping_sub(1) < FIRST_NORMAL - 1
}

/// Returns the number, or 0 if it is subnormal.
#[inline(always)]
pub(crate) fn unless_subnormal(number: f32) -> f32 {
    if is_subnormal(number) { 0.0 } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subnormal_numbers_alone_are_found() {
        let least = f32::MIN_POSITIVE;
        for number in [0.0, -0.0, least, -least, 1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            assert!(!number.is_subnormal() && !is_subnormal(number), "{number:e}");
        }
        for number in [f32::from_bits(1), least.next_down()].map(|x| [x, -x]).concat() {
            assert!(number.is_subnormal() && is_subnormal(number), "{number:e}");
        }
    }
}
