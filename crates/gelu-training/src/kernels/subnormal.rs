//! Subnormal numbers, below 2⁻¹²⁶ in size: x86 processors multiply them, and make them, by microcode,
//! some hundred times more slowly than others. Each number of a matrix goes into as many products as the
//! other has columns, and where a ReLU and its gradient are 0, those of smooth activations run through
//! all sizes: with a few subnormal numbers in a thousand, a network takes several times as long.

/// Whether the number is subnormal, by its bits: comparing it would cost what this is to save.
#[inline(always)]
fn is_subnormal(number: f32) -> bool {
    const MAGNITUDE: u32 = u32::MAX >> 1;
    const FIRST_NORMAL: u32 = f32::MIN_POSITIVE.to_bits();
    // 0 becomes the largest of all.
    (number.to_bits() & MAGNITUDE).wrapping_sub(1) < FIRST_NORMAL - 1
}

/// The number, or 0 for one that is subnormal.
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
