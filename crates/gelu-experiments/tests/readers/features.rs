//! Compares the coefficients of sound with those of `generate.py`, which computes them directly from their
//! definitions.

use gelu_experiments::data::audio::{Analysis, COEFFICIENTS, Recording};
use std::collections::BTreeMap;
use std::path::Path;

/// The reference has seven digits; the largest measured difference is 1.8e-7 of the largest coefficient.
const TOLERANCE: f32 = 5e-7;

#[test]
fn coefficients_are_those_of_the_definitions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readers");
    let text = std::fs::read_to_string(folder.join("features.csv")).unwrap();
    let mut expected: BTreeMap<&str, Vec<f32>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let mut fields = line.split(',');
        let values = expected.entry(fields.next().unwrap()).or_default();
        values.extend(fields.skip(1).map(|field| field.parse::<f32>().unwrap()));
    }
    assert_eq!(expected.len(), 2, "both rates");
    for (name, expected) in expected {
        let recording = Recording::read(&folder.join(name)).unwrap();
        let analysis = Analysis::new(recording.rate).unwrap();
        let found = analysis.coefficients(&recording.samples);
        assert_eq!(found.len(), expected.len(), "{name}");
        let largest = expected.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
        for (index, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let difference = (found - expected).abs() / largest;
            let (frame, coefficient) = (index / COEFFICIENTS, index % COEFFICIENTS);
            assert!(
                difference < TOLERANCE,
                "{name}, frame {frame}, coefficient {coefficient}: {found}, not {expected}"
            );
        }
    }
}
