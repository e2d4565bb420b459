use crate::random::{Draw, Mask};
use crate::{Level, Pass, Storage, Unit, slices};
use alloc::vec::Vec;
use half::f16;

/// Returns every 65,521st bit pattern, and the neighbours of special values.
fn inputs() -> Vec<f32> {
    let special = [0.0, 1e-45, 1e-38, 1e-30, 1e-19, 0.25, 0.751_791_5, 1.0, 5.0, 8.5, 11.0, 13.3];
    let special = special.into_iter().chain([14.5, 14.625, 88.0, 104.0, f32::MAX, f32::INFINITY]);
    let near =
        special.flat_map(|x| (-40..=40).map(move |step| x.to_bits().wrapping_add_signed(step)));
    let all = (0..=u32::MAX).step_by(65_521).chain(near.flat_map(|bits| [bits, bits | 1 << 31]));
    all.map(f32::from_bits).collect()
}

fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

/// Returns a unit's values and derivatives.
fn results<S: Storage>(unit: Unit, level: Level, x: &[S], one: S) -> [Vec<S>; 2] {
    let pass = Pass::new(unit).at(level);
    let (mut values, mut slopes) = (x.to_vec(), alloc::vec![one; x.len()]);
    pass.map_in_place(&mut values);
    pass.scale_in_place(x, &mut slopes);
    [values, slopes]
}

#[test]
fn levels_give_the_same_bits_and_those_without_fused_operations_the_same_f64() {
    let x = inputs();
    let double: Vec<f64> = x.iter().map(|&x| f64::from(x) * 1.000_000_1).collect();
    let levels = Level::available();
    for unit in Unit::ALL {
        // With a fused multiply-add, f32 has formulas of its own.
        for fuses in [true, false] {
            let mut all = levels.iter().filter(|level| level.fuses() == fuses);
            let Some(first) = all.next() else { continue };
            let expected = results(unit, *first, &x, 1.0f32);
            for level in all {
                let got = results(unit, *level, &x, 1.0f32);
                for (got, expected) in got.iter().zip(&expected) {
                    for ((got, expected), x) in got.iter().zip(expected).zip(&x) {
                        assert!(same(*got, *expected), "{unit} {level:?} at {x:e}: {got:e}");
                    }
                }
            }
        }
        let expected = results(unit, levels[0], &double, 1.0);
        for level in &levels {
            let got = results(unit, *level, &double, 1.0);
            for (got, expected) in got.iter().flatten().zip(expected.iter().flatten()) {
                let same = got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan();
                assert!(same, "{unit} {level:?}: {got:e}, {expected:e}");
            }
        }
    }
}

/// Returns the FNV-1a hash of the numbers' bits. The bits of a NaN do not count.
fn digest(bits: impl Iterator<Item = u64>) -> u64 {
    bits.fold(0xcbf2_9ce4_8422_2325, |digest, bits| {
        let step = |digest: u64, byte: u8| (digest ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        bits.to_le_bytes().into_iter().fold(digest, step)
    })
}

/// The digests are from an x86-64 processor with AVX-512 and AVX2; on other processors this test
/// compares their results with these digests.
#[test]
fn every_kind_of_processor_computes_the_same_bits() {
    let x = inputs();
    let double: Vec<f64> = x.iter().map(|&x| f64::from(x) * 1.000_000_1).collect();
    let bits = |x: f64| if x.is_nan() { 0 } else { x.to_bits() };
    for level in Level::available() {
        let single = Unit::ALL.into_iter().flat_map(|unit| results(unit, level, &x, 1.0f32));
        let single = digest(single.flatten().map(|x| bits(f64::from(x))));
        let doubles = Unit::ALL.into_iter().flat_map(|unit| results(unit, level, &double, 1.0));
        let doubles = digest(doubles.flatten().map(bits));
        let expected = if level.fuses() { FUSED } else { PORTABLE };
        assert_eq!((single, doubles), (expected, DOUBLE), "{level:?}: {single:#x} {doubles:#x}");
    }
}

const FUSED: u64 = 0xe6e8_504c_a18e_80a5;
const PORTABLE: u64 = 0x9c7b_515f_9025_8801;
const DOUBLE: u64 = 0x1166_054b_631e_492b;

#[test]
fn f32_without_fused_operations_is_correctly_rounded_but_for_a_few() {
    let x = inputs();
    let portable = *Level::available().last().unwrap();
    for unit in Unit::ALL {
        let [values, slopes] = results(unit, portable, &x, 1.0f32);
        let exact: [fn(Unit, f64) -> f64; 2] = [Unit::value, Unit::derivative];
        for (got, exact) in [values, slopes].iter().zip(exact) {
            for (&got, &x) in got.iter().zip(&x) {
                let exact = exact(unit, f64::from(x));
                let spacing = f64::from(got.abs().next_up()) - f64::from(got.abs());
                let ulps = (f64::from(got) - exact).abs() / spacing;
                let fine = ulps <= 0.51 || same(got, exact as f32) || !exact.is_finite();
                assert!(fine, "{unit} at {x:e}: {got:e}, {exact:e}");
            }
        }
    }
}

#[test]
fn the_best_level_is_one_of_those_available() {
    assert!(Level::available().contains(&Level::best()));
}

/// Returns `keep·dy·f(x + bias)` by the plain formula, one number at a time.
fn expected(x: &[f32], dy: &[f32], bias: &[f32], mask: Option<Mask>) -> Vec<f32> {
    let mask = mask.map(|mask| mask.factors(x.len()));
    let mut biased: Vec<f32> = (0..x.len())
        .map(|i| match bias {
            [] => x[i],
            bias => x[i] + bias[i % bias.len()],
        })
        .collect();
    slices::forward(Unit::Gelu, &mut biased);
    let values = biased.into_iter();
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
fn a_step_is_the_plain_function_for_any_length_bias_and_mask() {
    let mask = Mask::new(0.4, Draw { seed: 9, step: 1 });
    let lengths = (0..70).chain([127, 1023, 1024, 1025, 4099, 70_001]);
    for length in lengths {
        let x: Vec<f32> = (0..length).map(|i| (i % 101) as f32 * 0.17 - 8.0).collect();
        let ones = alloc::vec![1.0; length];
        for columns in [0, 1, 3, 128, 5000] {
            let bias: Vec<f32> = (0..columns).map(|i| (i % 11) as f32 * 0.3 - 1.0).collect();
            for mask in [None, Some(mask)] {
                let expected = expected(&x, &ones, &bias, mask);
                let pass = Pass::new(Unit::Gelu).with(&bias, mask);
                let (mut in_place, mut into) = (x.clone(), ones.clone());
                pass.map_in_place(&mut in_place);
                pass.map_into(&x, &mut into);
                let results = [pass.map(&x), in_place, into];
                assert!(results.iter().all(|result| *result == expected), "{length} {columns}");
            }
        }
    }
}

#[test]
fn backward_of_a_step_is_the_masked_gradient_times_the_slope_and_its_sums() {
    let mask = Mask::new(0.4, Draw { seed: 9, step: 1 });
    for length in [1, 33, 70, 1025, 4099, 70_001] {
        let x: Vec<f32> = (0..length).map(|i| (i % 101) as f32 * 0.17 - 8.0).collect();
        let dy: Vec<f32> = (0..length).map(|i| (i % 7) as f32 - 3.0).collect();
        for columns in [1, 3, 128] {
            let bias: Vec<f32> = (0..columns).map(|i| (i % 11) as f32 * 0.3 - 1.0).collect();
            let pass = Pass::new(Unit::Gelu).with(&bias, Some(mask));
            let biased: Vec<f32> = (0..length).map(|i| x[i] + bias[i % columns]).collect();
            let mut expected = dy.clone();
            slices::backward(Unit::Gelu, &biased, &mut expected);
            let kept = expected.iter_mut().zip(mask.factors(length));
            kept.for_each(|(value, kept)| *value = if kept == 0.0 { 0.0 } else { *value * kept });
            let (mut in_place, mut into) = (dy.clone(), x.clone());
            let sums = pass.scale_in_place(&x, &mut in_place);
            let others = pass.scale_into(&x, &dy, &mut into);
            let (out, also) = pass.scale(&x, &dy);
            assert!([in_place, into, out].iter().all(|result| *result == expected), "{length}");
            assert_eq!((&sums, &sums), (&others, &also));
            for (column, sum) in sums.iter().enumerate() {
                let exact: f64 =
                    expected.iter().skip(column).step_by(columns).map(|&v| f64::from(v)).sum();
                let allowed = 1e-4 * (1.0 + exact.abs()) + 1e-2;
                assert!((f64::from(*sum) - exact).abs() < allowed, "{sum} {exact}");
            }
        }
    }
}

#[test]
fn sixteen_bit_steps_are_rounded_once_from_f32() {
    let mask = Mask::new(0.1, Draw { seed: 3, step: 0 });
    let x: Vec<f32> = (0..2000).map(|i| f16::from_f32(i as f32 * 0.01 - 8.0).to_f32()).collect();
    let bias = [f16::from_f32(0.1), f16::from_f32(-0.7), f16::from_f32(1.3)];
    let wide = Pass::new(Unit::Gelu).with(&bias.map(f16::to_f32), Some(mask));
    let narrow = Pass::new(Unit::Gelu).with(&bias, Some(mask));
    let (mut exact, mut got) = (x.clone(), x.iter().map(|&x| f16::from_f32(x)).collect::<Vec<_>>());
    wide.map_in_place(&mut exact);
    narrow.map_in_place(&mut got);
    assert!(got.iter().zip(&exact).all(|(got, exact)| *got == f16::from_f32(*exact)));
}

#[test]
fn what_is_dropped_is_zero_even_if_infinite() {
    let mask = Mask::new(0.5, Draw { seed: 1, step: 1 });
    let mut values = [f32::INFINITY; 64];
    Pass::new(Unit::Relu).with(&[], Some(mask)).map_in_place(&mut values);
    assert!(values.contains(&0.0) && values.contains(&f32::INFINITY));
    assert!(!values.iter().any(|value| value.is_nan()));
}
