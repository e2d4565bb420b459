//! Texts that captions and headings share.

use crate::comparison::{Finding, best_groups};
use crate::runs::Snapshot;

/// Returns the number of runs per curve, and the data that the runs were trained on.
pub fn runs_and_data(snapshot: &Snapshot) -> String {
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

/// Joins the parts of a caption that are not empty.
pub(super) fn joined(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    parts.join("; ")
}

/// Returns the name of the data that the runs were trained on; empty if unknown.
pub(super) fn data_of(snapshot: &Snapshot) -> String {
    match snapshot.synthetic {
        true => format!("SYNTHETIC DATA ({})", snapshot.data),
        false => snapshot.data.clone(),
    }
}

/// Returns a sentence about what was cut, or `None` if nothing was.
pub fn cuts(cut_down: &[String]) -> Option<String> {
    (!cut_down.is_empty()).then(|| format!("Cut down: {}.", cut_down.join("; ")))
}

/// Returns the reasons for missing [wider intervals](crate::extension::WiderInterval), each sentence once.
pub(crate) fn missing_intervals<'a>(findings: impl Iterator<Item = &'a Finding>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for reason in findings.filter_map(|finding| finding.no_wider_interval.as_ref()) {
        if !all.contains(reason) {
            all.push(reason.clone());
        }
    }
    all
}
