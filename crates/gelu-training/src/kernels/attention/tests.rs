use super::*;

fn wave(length: usize, frequency: f64, size: f64) -> Vec<f32> {
    (0..length).map(|i| (size * (frequency * i as f64).sin()) as f32).collect()
}

fn wide(numbers: &[f32]) -> Vec<f64> {
    numbers.iter().map(|&x| f64::from(x)).collect()
}

/// Returns the output and P in f64, from the definition.
fn exact(of: &CausalAttention, qkv: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (mut out, mut weights) = (vec![0.0; of.numbers()], vec![0.0; of.weights()]);
    let number = |sequence, place, part, head, i| qkv[of.at(sequence, place, part, head) + i];
    for (sequence, head) in (0..of.batch).flat_map(|b| (0..of.heads).map(move |h| (b, h))) {
        for place in 0..of.length {
            let score = |other: usize| -> f64 {
                let each = (0..of.size).map(|i| {
                    number(sequence, place, Part::Query, head, i)
                        * number(sequence, other, Part::Key, head, i)
                });
                each.sum::<f64>() / (of.size as f64).sqrt()
            };
            let exponentials: Vec<f64> = (0..=place).map(|other| score(other).exp()).collect();
            let sum: f64 = exponentials.iter().sum();
            for (other, exponential) in exponentials.into_iter().enumerate() {
                let weight = exponential / sum;
                weights[of.weights_at(sequence, head) + place * of.length + other] = weight;
                for i in 0..of.size {
                    out[of.output_at(sequence, place, head) + i] +=
                        weight * number(sequence, other, Part::Value, head, i);
                }
            }
        }
    }
    (out, weights)
}

fn close(found: &[f32], expected: &[f64], what: &dyn std::fmt::Debug) {
    assert_eq!(found.len(), expected.len(), "{what:?}");
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (f64::from(*found) - expected).abs();
        assert!(error <= 2e-6 * expected.abs().max(1.0), "{what:?} {place}: {found}, {expected}");
    }
}

/// Returns sizes that fill whole tiles, sizes that are one less or one more, sizes of one, and a size of
/// zero.
fn sizes() -> impl Iterator<Item = CausalAttention> {
    let sizes = [
        [2, 64, 4, 32],
        [1, 1, 1, 1],
        [3, 5, 2, 7],
        [1, 31, 1, 33],
        [2, 33, 3, 16],
        [1, 97, 1, 64],
        [0, 4, 2, 3],
        [2, 0, 1, 3],
    ];
    sizes.into_iter().map(|[batch, length, heads, size]| CausalAttention {
        batch,
        length,
        heads,
        size,
    })
}

#[test]
fn output_and_weights_are_those_of_the_definition() {
    for of in sizes() {
        let qkv = wave(3 * of.numbers(), 0.7311, 2.0);
        let (out, weights) = exact(&of, &wide(&qkv));
        for level in Level::available() {
            let found = of.forward(level, &qkv);
            close(&found.0, &out, &(of, level));
            close(&found.1, &weights, &(of, level));
        }
    }
}

#[test]
fn gradients_are_the_slopes_of_the_definition() {
    for of in sizes().filter(|of| of.numbers() > 0) {
        let qkv = wave(3 * of.numbers(), 0.7311, 1.5);
        let factors = wave(of.numbers(), 0.377, 1.0);
        let value = |qkv: &[f64]| -> f64 {
            exact(&of, qkv).0.iter().zip(&factors).map(|(out, f)| out * f64::from(*f)).sum()
        };
        // The directions are two waves and some single numbers.
        let mut directions: Vec<Vec<f64>> =
            [0.193, 1.917].map(|frequency| wide(&wave(qkv.len(), frequency, 1.0))).into();
        directions.extend((0..5).map(|index| {
            let mut one = vec![0.0; qkv.len()];
            one[index * (qkv.len() - 1) / 4] = 1.0;
            one
        }));
        let slopes: Vec<f64> = directions
            .iter()
            .map(|direction| {
                const STEP: f64 = 1e-4;
                let moved = |by: f64| {
                    let moved = wide(&qkv).into_iter().zip(direction);
                    value(&moved.map(|(x, d)| x + by * d).collect::<Vec<_>>())
                };
                (moved(STEP) - moved(-STEP)) / (2.0 * STEP)
            })
            .collect();
        for level in Level::available() {
            let (_, weights) = of.forward(level, &qkv);
            let gradient = of.gradient(level, &qkv, &weights, &factors);
            for (direction, slope) in directions.iter().zip(&slopes) {
                let parts = gradient.iter().zip(direction).map(|(g, d)| f64::from(*g) * d);
                let found: f64 = parts.clone().sum();
                let size: f64 = parts.map(f64::abs).sum();
                assert!(
                    (found - slope).abs() <= 1e-5 * size + 1e-6,
                    "{of:?} {level:?}: {found} and {slope}"
                );
            }
        }
    }
}

#[test]
fn no_place_sees_a_later_one() {
    let of = CausalAttention { batch: 1, length: 9, heads: 2, size: 5 };
    let mut qkv = wave(3 * of.numbers(), 0.7311, 2.0);
    let (before, _) = of.forward(Level::best(), &qkv);
    let half = of.length / 2;
    qkv[half * 3 * of.heads * of.size..].fill(1e15);
    let (after, _) = of.forward(Level::best(), &qkv);
    let kept = half * of.heads * of.size;
    assert_eq!(before[..kept], after[..kept]);
    assert_ne!(before[kept..], after[kept..]);
}

#[cfg(feature = "rayon")]
#[test]
fn threads_give_the_same_bits() {
    let of = CausalAttention { batch: 12, length: 64, heads: 4, size: 32 };
    let qkv = wave(3 * of.numbers(), 0.7311, 2.0);
    let results = || {
        let (out, weights) = of.forward(Level::best(), &qkv);
        let gradient = of.gradient(Level::best(), &qkv, &weights, &out);
        (out, weights, gradient)
    };
    let expected = results();
    for threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert!(pool.install(results) == expected, "{threads}");
    }
}

#[test]
#[should_panic(expected = "`qkv` has 17 numbers, expected 18: as CausalAttention")]
fn other_sizes_are_refused() {
    let of = CausalAttention { batch: 1, length: 2, heads: 1, size: 3 };
    let _ = of.forward(Level::best(), &[0.0; 17]);
}
