use super::{ArmLayers, LayerMeasure, layers};
use gelu_compare::comparison::Headings;
use gelu_compare::runs::Snapshot;
use std::ops::RangeInclusive;

/// The share of dead units from which a sentence mentions them.
const MANY: f64 = 0.1;
/// The number of output directions below which a sentence mentions the layer: then the outputs carry little more than
/// one number.
const FEW: f64 = 2.0;
/// The factor between the gradients of the first and the last layer from which a sentence mentions them.
const APART: f64 = 10.0;

/// Returns one sentence per conspicuous finding after the last epoch: dead units, outputs along one direction,
/// gradients that vanish or explode between layers.
pub(in crate::networks) fn sentences(snapshot: &Snapshot) -> Vec<String> {
    let all = layers(snapshot);
    let headings = Headings::of(&snapshot.design.axes, all.iter().map(|arm| &arm.context));
    let said = |arm: &ArmLayers| {
        let label = snapshot.label(&arm.arm);
        let said = dead(arm, &label).into_iter().chain(narrow(arm, &label));
        let said =
            said.chain(gradients(arm, &label)).map(|said| headings.head(&arm.context, &said));
        said.collect::<Vec<_>>()
    };
    all.iter().flat_map(said).collect()
}

/// Returns the ranges of neighbouring layers for which `holds` is true.
fn stretches(arm: &ArmLayers, holds: impl Fn(usize) -> bool) -> Vec<RangeInclusive<usize>> {
    let mut found: Vec<RangeInclusive<usize>> = Vec::new();
    for layer in (1..=arm.layers).filter(|layer| holds(*layer)) {
        match found.last_mut() {
            Some(last) if last.end() + 1 == layer => *last = *last.start()..=layer,
            _ => found.push(layer..=layer),
        }
    }
    found
}

/// Formats a range: `layer 3`, `layers 6 to 8`.
fn named(layers: &RangeInclusive<usize>) -> String {
    match layers.start() == layers.end() {
        true => format!("layer {}", layers.start()),
        false => format!("layers {} to {}", layers.start(), layers.end()),
    }
}

fn dead(arm: &ArmLayers, label: &str) -> Vec<String> {
    let dead = |layer, epoch| arm.at(LayerMeasure::Dead, layer, epoch).unwrap_or(0.0);
    let said = |layers: RangeInclusive<usize>| {
        let count = layers.clone().count() as f64;
        let share = |epoch| layers.clone().map(|layer| dead(layer, epoch)).sum::<f64>() / count;
        let last = share(arm.epochs);
        let began = (1..=arm.epochs).rev().take_while(|&epoch| share(epoch) >= last / 2.0).last();
        let since = match began {
            Some(1) | None => "at least half as many after every epoch".to_owned(),
            Some(epoch) => format!("at least half as many from epoch {epoch} on"),
        };
        format!(
            "{label}: {} of the units of {} are dead in the end, {since}.",
            LayerMeasure::Dead.unit().shown(last),
            named(&layers)
        )
    };
    let many = |layer| dead(layer, arm.epochs) >= MANY;
    stretches(arm, many).into_iter().map(said).collect()
}

fn narrow(arm: &ArmLayers, label: &str) -> Vec<String> {
    let rank = |layer| arm.last(LayerMeasure::Rank, layer).unwrap_or(f64::INFINITY);
    let said = |layers: RangeInclusive<usize>| {
        let lowest = layers.clone().map(rank).fold(f64::INFINITY, f64::min);
        format!(
            "{label}: what {} {} varies in little more than one direction (effective rank {lowest:.2}).",
            named(&layers),
            if layers.start() == layers.end() { "gives" } else { "give" },
        )
    };
    stretches(arm, |layer| rank(layer) < FEW).into_iter().map(said).collect()
}

fn gradients(arm: &ArmLayers, label: &str) -> Option<String> {
    let norm = |layer| arm.last(LayerMeasure::Gradient, layer).filter(|norm| *norm > 0.0);
    let factor = norm(1)? / norm(arm.layers)?;
    let said = |factor: f64, how| {
        format!(
            "{label}: the gradient is {factor:.0} times as {how} at layer 1 as at layer {}.",
            arm.layers
        )
    };
    match factor {
        _ if factor >= APART => Some(said(factor, "large")),
        _ if factor <= 1.0 / APART => Some(said(1.0 / factor, "small")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks::layers::probed;
    use gelu_compare::testing::example;

    #[test]
    fn what_strikes_the_eye_is_said() {
        let said = sentences(&probed());
        assert_eq!(
            said[..3],
            [
                "Dropout 0: GELU: what layer 3 gives varies in little more than one direction (effective \
                 rank 1.00).",
                "Dropout 0: GELU: the gradient is 100 times as small at layer 1 as at layer 3.",
                "Dropout 0: ReLU: 22.0 % of the units of layers 1 to 3 are dead in the end, at least half \
                 as many from epoch 2 on.",
            ]
        );
        assert!(sentences(&example()).is_empty());
    }
}
