//! The words that captions and headings share.

use crate::comparison::{Finding, best_groups};
use crate::runs::ComparisonSnapshot;

/// How many runs a curve stands for, and what they were trained on.
pub fn runs_and_data(snapshot: &ComparisonSnapshot) -> String {
    let complete = best_groups(snapshot).into_iter().map(|group| group.complete().runs.len());
    let complete: Vec<usize> = complete.filter(|&runs| runs > 0).collect();
    let (fewest, most) = (complete.iter().min(), complete.iter().max());
    let of = match (fewest, most) {
        (Some(1), Some(1)) => "one run".to_owned(),
        (Some(fewest), Some(most)) if fewest < most => format!("median of {fewest} to {most} runs"),
        _ => format!("median of {} runs", most.unwrap_or(&0)),
    };
    joined(&[&of, &data_of(snapshot)])
}

/// Parts of a caption, but for empty ones.
pub(super) fn joined(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    parts.join("; ")
}

/// What the runs were trained on; empty where nobody said.
pub(super) fn data_of(snapshot: &ComparisonSnapshot) -> String {
    match snapshot.synthetic {
        true => format!("SYNTHETIC DATA ({})", snapshot.data),
        false => snapshot.data.clone(),
    }
}

/// What was cut, as a sentence; `None` where nothing was.
pub fn cuts(cut_down: &[String]) -> Option<String> {
    (!cut_down.is_empty()).then(|| format!("Cut down: {}.", cut_down.join("; ")))
}

/// Why there is no [wider interval](crate::extension::WiderInterval) where one is due, each sentence once.
pub(crate) fn untold<'a>(findings: impl Iterator<Item = &'a Finding>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for reason in findings.filter_map(|finding| finding.no_wider_interval.as_ref()) {
        if !all.contains(reason) {
            all.push(reason.clone());
        }
    }
    all
}
