//! Points with one to three coordinates, for formulas that a network learns.
//!
//! The test points are the same for every run. The run's seed determines the training and validation points, so that
//! a verdict over seeds is also one over training points.

use super::DataSource;
use crate::randomness::{generator, points};
use crate::{Error, Result};
use gelu_learner::activation::TargetFormula;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Name of the set.
pub const NAME: &str = "points";
/// Version of the points; increase it when other points are sampled.
const VERSION: u32 = 1;
/// Number of training points.
pub const TRAIN: usize = 2_000;
/// Number of validation points.
pub const VALIDATION: usize = 1_000;
/// Number of test points, inside and outside each.
pub const TEST: usize = 2_000;
/// Number of points from which a formula's mean and deviation are computed.
const SURVEYED: usize = 16_384;
/// The seed of the one set of test points; no run samples from its streams.
const SEED: u64 = 160_608_415;

/// Points in order, all with the same number of coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    variables: usize,
    /// `[points, variables]`
    coordinates: Vec<f32>,
}

/// The region of sampled points.
#[derive(Clone, Copy, Debug)]
enum Region {
    /// [−1, 1)ᵈ, uniformly.
    Inside,
    /// [−2, 2)ᵈ with 1 < max |x|, uniformly.
    Outside,
}

impl Points {
    fn drawn(region: Region, count: usize, variables: usize, rng: &mut impl Rng) -> Self {
        let mut coordinates = Vec::with_capacity(count * variables);
        while coordinates.len() < count * variables {
            // Multiples of 2^-23, which f32 represents exactly, so that the points are the same on every machine.
            let mut unit = || (rng.next_u32() >> 8) as f32 / (1 << 23) as f32 - 1.0;
            match region {
                Region::Inside => coordinates.extend((0..variables).map(|_| unit())),
                Region::Outside => {
                    let point: Vec<f32> = (0..variables).map(|_| 2.0 * unit()).collect();
                    if point.iter().any(|x| x.abs() > 1.0) {
                        coordinates.extend(point);
                    }
                }
            }
        }
        Self { variables, coordinates }
    }

    /// Parses one point from its coordinates separated by commas.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if there are more or fewer than `variables` coordinates, or one is not a finite number.
    pub fn parse(text: &str, variables: usize) -> Result<Self> {
        let number = |text: &str| text.trim().parse().ok().filter(|x: &f32| x.is_finite());
        let coordinates: Option<Vec<f32>> = text.split(',').map(number).collect();
        match coordinates.filter(|coordinates| coordinates.len() == variables) {
            Some(coordinates) => Ok(Self { variables, coordinates }),
            None => {
                let example = ["0.5", "-0.25", "1"][..variables.min(3)].join(",");
                let numbers = if variables == 1 { "number" } else { "numbers between commas" };
                Err(Error::Usage(format!(
                    "the point `{}` is not {variables} {numbers}; the network was trained on such, as in {example}",
                    text.escape_debug()
                )))
            }
        }
    }

    /// Returns the number of points.
    pub fn len(&self) -> usize {
        self.coordinates.len() / self.variables
    }

    /// Returns whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.coordinates.is_empty()
    }

    /// Returns the number of coordinates per point.
    pub fn variables(&self) -> usize {
        self.variables
    }

    /// Returns all coordinates, point after point: `[points, variables]`.
    pub fn coordinates(&self) -> &[f32] {
        &self.coordinates
    }

    /// Keeps the first `count` points, or all if there are fewer.
    pub fn first(mut self, count: usize) -> Self {
        self.coordinates.truncate(count.saturating_mul(self.variables));
        self
    }

    /// Checks that a formula has a value at each point.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] naming a point without a value.
    pub fn check(&self, formula: &TargetFormula) -> Result<()> {
        self.values(formula).map(drop)
    }

    /// Returns the formula's values, in f64 and in order.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] naming a point without a value.
    fn values(&self, formula: &TargetFormula) -> Result<Vec<f64>> {
        let value = |point: &[f32]| {
            let point: Vec<f64> = point.iter().map(|&x| f64::from(x)).collect();
            let value = formula.at(&point);
            match value.is_finite() {
                true => Ok(value),
                false => Err(Error::Usage(format!(
                    "the formula {formula} is {value} at {point:?}; it has to be a finite number wherever \
                     |x|, |y| and |z| are at most 2"
                ))),
            }
        };
        self.coordinates.chunks_exact(self.variables).map(value).collect()
    }
}

/// The scale of numbers: a formula's scaled values have mean 0 and standard deviation 1 over [−1, 1]ᵈ.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    mean: f64,
    deviation: f64,
}

impl Scale {
    /// Computes the scale of some numbers from their mean and deviation.
    pub fn of(numbers: impl Iterator<Item = f64> + Clone) -> Self {
        let count = numbers.clone().count().max(1) as f64;
        let mean = numbers.clone().sum::<f64>() / count;
        let square = numbers.map(|number| (number - mean).powi(2)).sum::<f64>() / count;
        let deviation = if square > 0.0 { square.sqrt() } else { 1.0 };
        Self { mean, deviation }
    }

    /// Returns the scaled target for a value.
    pub fn target(&self, value: f64) -> f32 {
        ((value - self.mean) / self.deviation) as f32
    }

    /// Returns the value for a scaled target.
    pub fn value(&self, target: f64) -> f64 {
        target * self.deviation + self.mean
    }

    /// Returns the formula's scaled values at some points.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] naming a point without a value.
    pub fn targets(&self, formula: &TargetFormula, points: &Points) -> Result<Vec<f32>> {
        let values = points.values(formula)?;
        Ok(values.iter().map(|value| ((value - self.mean) / self.deviation) as f32).collect())
    }
}

/// The points that are the same for every run, for formulas of one, two and three variables.
#[derive(Clone, Debug, PartialEq)]
pub struct PointSet {
    dimensions: Vec<Dimension>,
    /// The source of the points.
    pub source: DataSource,
}

#[derive(Clone, Debug, PartialEq)]
struct Dimension {
    inside: Points,
    outside: Points,
    surveyed: Points,
}

impl PointSet {
    /// Samples the points.
    pub fn generate() -> Self {
        let dimension = |variables| {
            let rng = &mut generator(SEED, points(variables));
            Dimension {
                inside: Points::drawn(Region::Inside, TEST, variables, rng),
                outside: Points::drawn(Region::Outside, TEST, variables, rng),
                surveyed: Points::drawn(Region::Inside, SURVEYED, variables, rng),
            }
        };
        let dimensions: Vec<_> = (1..=TargetFormula::MOST_VARIABLES).map(dimension).collect();
        let parts = dimensions.iter().flat_map(|d| [&d.inside, &d.outside, &d.surveyed]);
        let coordinates = parts.flat_map(|points| &points.coordinates);
        let bytes: Vec<u8> = coordinates.flat_map(|x| x.to_le_bytes()).collect();
        let version = VERSION.to_le_bytes();
        let source = DataSource::new(NAME, None, true, [&version[..], &bytes]);
        Self { dimensions, source }
    }

    fn of(&self, formula: &TargetFormula) -> &Dimension {
        &self.dimensions[formula.variables() - 1]
    }

    /// Returns the test points in [−1, 1]ᵈ, for a formula's variables.
    pub fn inside(&self, formula: &TargetFormula) -> &Points {
        &self.of(formula).inside
    }

    /// Returns the test points with 1 < max |x| ≤ 2, for a formula's variables.
    pub fn outside(&self, formula: &TargetFormula) -> &Points {
        &self.of(formula).outside
    }

    /// Returns the scale of a formula's values, from 16,384 points in [−1, 1]ᵈ that have no other use.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if the formula has no value at one of the points, or the same value at all of them.
    pub fn scale(&self, formula: &TargetFormula) -> Result<Scale> {
        let values = self.of(formula).surveyed.values(formula)?;
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let square = |value: &f64| (value - mean) * (value - mean);
        let deviation = (values.iter().map(square).sum::<f64>() / count).sqrt();
        // A smaller deviation is only a rounding error.
        match deviation > 1e-9 * mean.abs() && deviation.is_finite() {
            true => Ok(Scale { mean, deviation }),
            false => Err(Error::Usage(format!(
                "the formula {formula} deviates by {deviation} from its mean {mean} where |x|, |y| and |z| are \
                 at most 1; there is nothing to learn"
            ))),
        }
    }
}

/// Returns the training and the validation points of a run. They depend only on its seed and the number of variables.
pub fn of_run(seed: u64, variables: usize) -> [Points; 2] {
    // A run with the test points' own seed would train on them.
    let seed = if seed == SEED { u64::MAX } else { seed };
    let rng = &mut generator(seed, points(variables));
    [TRAIN, VALIDATION].map(|count| Points::drawn(Region::Inside, count, variables, rng))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formula(text: &str) -> TargetFormula {
        text.parse().unwrap()
    }

    /// The largest |x| in d dimensions, uniform over [−1, 1]ᵈ, has the mean d/(d + 1); over the shell 1 < max |x| ≤
    /// 2, it has the mean d/(d + 1) · (2^(d+1) − 1)/(2^d − 1).
    #[test]
    fn points_lie_uniformly_where_they_are_said_to() {
        let set = PointSet::generate();
        for (index, dimension) in set.dimensions.iter().enumerate() {
            let d = index as f64 + 1.0;
            let largest = |points: &Points| -> Vec<f64> {
                let of = |point: &[f32]| point.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
                points.coordinates.chunks(index + 1).map(|point| f64::from(of(point))).collect()
            };
            let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
            let (inside, outside) = (largest(&dimension.inside), largest(&dimension.outside));
            assert_eq!((inside.len(), outside.len()), (TEST, TEST));
            assert!(inside.iter().all(|x| *x <= 1.0));
            assert!(outside.iter().all(|x| *x > 1.0 && *x <= 2.0));
            let expected = d / (d + 1.0);
            let shell = expected * (2_f64.powf(d + 1.0) - 1.0) / (2_f64.powf(d) - 1.0);
            assert!((mean(&inside) - expected).abs() < 0.03, "{d}: {}", mean(&inside));
            assert!((mean(&outside) - shell).abs() < 0.03, "{d}: {}", mean(&outside));
            let of_signs = |points: &Points| {
                let negative = points.coordinates.iter().filter(|x| **x < 0.0).count();
                negative as f64 / points.coordinates.len() as f64
            };
            assert!((of_signs(&dimension.outside) - 0.5).abs() < 0.05);
        }
    }

    /// Over [−1, 1], x has the deviation 1/√3, and x² has the mean 1/3 and the deviation √(4/45).
    #[test]
    fn values_are_measured_in_deviations_from_their_mean() {
        let set = PointSet::generate();
        for (text, mean, deviation) in [
            ("line=x", 0.0, 1.0 / 3_f64.sqrt()),
            ("square=x^2", 1.0 / 3.0, (4.0_f64 / 45.0).sqrt()),
            ("product=x*y", 0.0, 1.0 / 3.0),
            ("triple=x*y*z", 0.0, 3_f64.powf(-1.5)),
        ] {
            let scale = set.scale(&formula(text)).unwrap();
            assert!((scale.mean - mean).abs() < 0.02, "{text}: {scale:?}");
            assert!((scale.deviation - deviation).abs() < 0.02 * deviation, "{text}: {scale:?}");
        }
        let scale = Scale { mean: 1.0, deviation: 0.5 };
        let points = Points { variables: 2, coordinates: vec![1.0, 2.0, -1.0, 0.5] };
        assert_eq!(scale.targets(&formula("f=x*y"), &points).unwrap(), [2.0, -3.0]);
    }

    #[test]
    fn what_cannot_be_learned_is_refused_with_its_formula() {
        let set = PointSet::generate();
        let error = set.scale(&formula("flat=0*x+3")).unwrap_err().to_string();
        assert!(error.contains("flat=0*x+3 deviates by 0 from its mean 3"), "{error}");
        let error = set.scale(&formula("root=sqrt(x)")).unwrap_err().to_string();
        assert!(error.contains("root=sqrt(x) is NaN at [-0."), "{error}");
        // The formula has values at all points inside, but not outside.
        let root = formula("root=sqrt(3-2*x)");
        let scale = set.scale(&root).unwrap();
        assert!(scale.targets(&root, set.outside(&root)).is_err());
    }

    #[test]
    fn a_run_has_points_of_its_own_that_are_no_test_points() {
        let set = PointSet::generate();
        let test = set.inside(&formula("f=x*y")).coordinates();
        for seed in [1, SEED] {
            let train = of_run(seed, 2).map(|points| points.coordinates).concat();
            let met = test.chunks(2).any(|point| train.chunks(2).any(|other| other == point));
            assert!(!met, "a test point of seed {seed} is a training point");
        }
        let [train, valid] = of_run(1, 2);
        assert_eq!((train.len(), valid.len(), train.variables()), (TRAIN, VALIDATION, 2));
        assert_eq!(of_run(1, 2), [train.clone(), valid.clone()]);
        assert_ne!(of_run(2, 2)[0], train);
        assert_ne!(train.clone().first(VALIDATION), valid);
        assert_eq!(train.first(3).len(), 3);
    }

    #[test]
    fn the_bytes_are_the_same_on_every_machine() {
        // Recorded on x86-64 Linux; a difference elsewhere is a portability bug.
        assert_eq!(PointSet::generate().source.fingerprint, FINGERPRINT);
    }

    const FINGERPRINT: &str = "89fd115af3848b58ebe8ac5e1241511fed999e746b2f8af34473521bd000f11a";
}
