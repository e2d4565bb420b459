use super::*;
use crate::unit::Job;
use crate::{Draw, Unit};
use alloc::vec::Vec;

/// Every 65,521st bit pattern, and the neighbourhoods of what is special.
fn inputs() -> Vec<f32> {
    let special = [0.0, 1e-45, 1e-38, 1e-30, 1e-19, 0.25, 0.751_791_5, 1.0, 5.0, 8.5, 11.0, 13.3];
    let special = special.into_iter().chain([14.5, 14.625, 88.0, 104.0, f32::MAX, f32::INFINITY]);
    let near =
        special.flat_map(|x| (-40..=40).map(move |step| x.to_bits().wrapping_add_signed(step)));
    let all = (0..=u32::MAX).step_by(65_521).chain(near.flat_map(|bits| [bits, bits | 1 << 31]));
    all.map(f32::from_bits).collect()
}

/// A formula's results at a level.
#[derive(Clone, Copy)]
struct At<'a> {
    level: Level,
    x: &'a [f32],
}

impl Job for At<'_> {
    type Output = Vec<f32>;

    fn run<F: Formula>(self, formula: F) -> Vec<f32> {
        let mut values = self.x.to_vec();
        Pass { level: self.level, ..Pass::new(formula) }.map_in_place(&mut values);
        values
    }
}

fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

#[test]
fn every_level_gives_the_same_bits() {
    let x = inputs();
    for unit in Unit::ALL {
        let job = |level| At { level, x: &x };
        let portable = job(Level::Portable);
        let expected = [unit.with_value(portable), unit.with_derivative(portable)];
        for level in Level::available() {
            let got = [unit.with_value(job(level)), unit.with_derivative(job(level))];
            for (got, expected) in got
                .iter()
                .flatten()
                .zip(expected.iter().flatten())
                .zip(x.iter().cycle())
                .map(|((g, e), x)| ((g, x), e))
            {
                let ((got, x), expected) = (got, expected);
                assert!(
                    same(*got, *expected),
                    "{unit:?} {level:?} at {x:e}: {got:e}, {expected:e}"
                );
            }
        }
    }
}

#[test]
fn the_best_level_is_one_of_those_available() {
    assert!(Level::available().any(|level| level == Level::best()));
    assert_eq!(Level::available().last(), Some(Level::Portable));
}

/// `keep·dy·f(x + bias)` by the plain formula, number by number.
fn expected(x: &[f32], dy: &[f32], pass: &Pass<'_, crate::math::formula::Gelu>) -> Vec<f32> {
    let mask = pass.dropout.map(|dropout| dropout.mask(x.len()));
    let biased = (0..x.len()).map(|i| match pass.bias {
        [] => x[i],
        bias => x[i] + bias[i % bias.len()],
    });
    let values = biased.map(|x| pass.formula.single::<f32>(x));
    let scaled = values.zip(dy).map(|(value, dy)| value * dy);
    match mask {
        None => scaled.collect(),
        Some(mask) => scaled
            .zip(mask)
            .map(|(value, mask)| if mask == 0.0 { 0.0 } else { value * mask })
            .collect(),
    }
}

#[test]
fn a_pass_is_the_plain_formula_for_any_length_bias_and_mask() {
    let dropout = Dropout::new(0.4, Draw { seed: 9, step: 1 });
    let lengths = (0..70).chain([127, 1023, 1024, 1025, 4099, 70_001]);
    for length in lengths {
        let x: Vec<f32> = (0..length).map(|i| (i % 101) as f32 * 0.17 - 8.0).collect();
        let dy: Vec<f32> = (0..length).map(|i| (i % 7) as f32 - 3.0).collect();
        for columns in [0, 1, 3, 128, 5000] {
            let bias: Vec<f32> = (0..columns).map(|i| (i % 11) as f32 * 0.3 - 1.0).collect();
            for dropout in [None, Some(dropout)] {
                let pass = Pass { bias: &bias, dropout, ..Pass::new(crate::math::formula::Gelu) };
                let expected = expected(&x, &dy, &pass);
                let (mut in_place, mut out) = (dy.clone(), Vec::with_capacity(length));
                let sums = pass.scale_in_place(&x, &mut in_place);
                assert_eq!(in_place, expected, "{length} {columns}");
                let also = pass.scale(&x, &dy, &mut out.spare_capacity_mut()[..length]);
                // SAFETY: `scale` has written all of them.
                unsafe { out.set_len(length) };
                assert_eq!((&out, &also), (&expected, &sums), "{length} {columns}");
                for (column, sum) in sums.iter().enumerate() {
                    let exact: f64 =
                        expected.iter().skip(column).step_by(columns).map(|&v| f64::from(v)).sum();
                    assert!(
                        (f64::from(*sum) - exact).abs() < 1e-4 * (1.0 + exact.abs()) + 1e-2,
                        "{sum} {exact}"
                    );
                }
            }
        }
    }
}

#[test]
fn what_is_dropped_is_zero_even_if_infinite() {
    let dropout = Dropout::new(0.5, Draw { seed: 1, step: 1 });
    let pass = Pass { dropout: Some(dropout), ..Pass::new(crate::math::formula::Relu) };
    let mut values = [f32::INFINITY; 64];
    pass.map_in_place(&mut values);
    assert!(values.contains(&0.0) && values.contains(&f32::INFINITY));
    assert!(!values.iter().any(|value| value.is_nan()));
}
