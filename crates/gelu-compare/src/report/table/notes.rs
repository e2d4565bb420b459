//! The notes below a table.

use crate::comparison::{Wording, error_rate};
use crate::measure::Direction;
use crate::report::{ArmDocument, Document, Edge, missing_intervals};
use crate::setting::{Axis, Role};

/// Returns the notes below the table.
pub(in crate::report) fn notes(document: &Document) -> Vec<String> {
    let epoch = document.reported.words(&document.selection);
    let complete = document.arms.iter().map(|a| a.finished + a.diverged);
    let most = complete.max().unwrap_or(0);
    let mut notes = vec![match most {
        0 => "No run is complete yet.".to_owned(),
        1 => format!("After the {epoch}; (n) is the number of runs."),
        _ => format!("After the {epoch}: the median (of n runs), and the lowest and highest run."),
    }];
    notes.extend(decides(document));
    if document.runs.iter().any(|run| run.status == "diverged") {
        notes.push("∞: the run diverged; it counts as the worst.".to_owned());
    }
    notes.extend(choices(document));
    notes.extend(errors(document));
    let later = &document.criterion.later_measures;
    notes.extend(later.iter().map(|later| {
        format!(
            "{} was chosen in place of {} once runs were complete ({}): an unplanned choice, so verdicts \
             err more often than planned.",
            later.measure, later.instead_of, later.at
        )
    }));
    notes.extend(missing_intervals(document.differences.iter().map(|d| &d.finding)));
    notes.extend(beside(document));
    let failed = document.runs.iter().filter(|run| run.status == "failed");
    let failed: Vec<String> = failed
        .map(|run| format!("{} ({})", run.name, run.reason.as_deref().unwrap_or("no reason")))
        .collect();
    let all = document.runs.len();
    if !failed.is_empty() {
        notes.push(format!("{} of {all} runs failed: {}.", failed.len(), failed.join("; ")));
    }
    let unfinished = document
        .runs
        .iter()
        .filter(|run| matches!(run.status.as_str(), "waiting" | "running" | "interrupted"))
        .count();
    if unfinished > 0 {
        notes.push(format!("{unfinished} of {all} runs are unfinished; the same command goes on."));
    }
    notes.extend(arithmetics(document));
    notes
}

/// Returns a note about the measure that decides.
fn decides(document: &Document) -> Option<String> {
    let measure = document.measures.iter().find(|m| m.name == document.criterion.primary)?;
    let side = match measure.direction {
        Direction::Lower => "lower",
        Direction::Higher => "higher",
    };
    let negligible = document.criterion.negligible;
    let margin = match negligible > 0.0 {
        true => format!(
            "; differences of up to {} count as none",
            Wording::of(measure).short(negligible)
        ),
        false => String::new(),
    };
    (document.criterion.comparisons > 0)
        .then(|| format!("Verdicts go by {}, {side} is better{margin}.", measure.words))
}

/// Returns a note about unplanned runs.
fn beside(document: &Document) -> Option<String> {
    let count = document.runs.iter().filter(|run| !run.planned).count();
    match count {
        0 => None,
        all if all == document.runs.len() => Some(
            "No comparison was planned here, so none is judged; the command `compare` plans one."
                .into(),
        ),
        _ => Some(format!(
            "{count} of {} runs are not in the plan; they are shown, and change no verdict.",
            document.runs.len()
        )),
    }
}

/// Returns a note about runs that continued where the last bits are computed differently.
fn arithmetics(document: &Document) -> Option<String> {
    let mixed = document.runs.iter().filter(|run| run.arithmetics.len() > 1);
    let mixed: Vec<String> =
        mixed.map(|run| format!("{} ({})", run.name, run.arithmetics.join(", "))).collect();
    (!mixed.is_empty()).then(|| {
        format!(
            "{} of {} runs went on where the last bits are computed otherwise, and cannot be repeated \
             bit for bit: {}.",
            mixed.len(),
            document.runs.len(),
            mixed.join("; ")
        )
    })
}

/// Returns notes about the choice of the tuned values, and whether the choice is at the end of the grid.
fn choices(document: &Document) -> Vec<String> {
    let tuned: Vec<&Axis> = Role::Tuned.of(&document.axes).collect();
    let several = |axis: &&&Axis| {
        let planned = document.runs.iter().filter(|run| run.planned);
        let mut values = planned.filter_map(|run| run.setting.get(axis.column()));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    let chosen: Vec<&&Axis> = tuned.iter().filter(several).collect();
    let mut notes: Vec<String> = chosen
        .iter()
        .map(|axis| {
            let tried = tried(document, axis);
            format!(
                "{} are chosen by {} among {tried}. Choosing can make verdicts wrong more often, where {1} and {} rise \
                 and fall together.",
                capitalised(&axis.plural()),
                document.selection,
                document.criterion.primary
            )
        })
        .collect();
    let [axis] = chosen.as_slice() else { return notes };
    let end = |entry: &ArmDocument| {
        let end = match entry.edge? {
            Edge::Smallest => "smallest",
            Edge::Largest => "largest",
        };
        let value = entry.best.get(&format!("best_{}", axis.column()))?;
        let context = entry.context.iter().map(|(name, value)| format!("{name} {value}"));
        let context = match context.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => none,
            some => format!(" ({some})"),
        };
        Some(format!("{} {}{context} is the {end}", entry.label, axis.label(value)))
    };
    let ends: Vec<String> = document.arms.iter().filter_map(end).collect();
    if !ends.is_empty() {
        notes.push(format!(
            "At the end of the {} tried, beyond which may be a better: {}.",
            axis.short_plural(),
            ends.join(", ")
        ));
    }
    notes
}

/// Returns the number of different values of an axis among planned runs.
fn tried(document: &Document, axis: &Axis) -> usize {
    let mut values = Vec::new();
    for run in document.runs.iter().filter(|run| run.planned) {
        if let Some(value) = run.setting.get(axis.column()).filter(|value| !values.contains(value))
        {
            values.push(value);
        }
    }
    values.len()
}

pub(in crate::report) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns a note about the error rate of verdicts, and its conditions.
fn errors(document: &Document) -> Option<String> {
    let judged = document.differences.iter().any(|difference| difference.finding.p.is_some());
    let rate = error_rate(document.criterion.comparisons, document.criterion.alpha);
    judged.then(|| {
        format!(
            "{rate}, if the differences between runs with the same seed are symmetric about their centre. Only the seeds \
             were varied: another test set, another split or other tuning may give another result."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::example;

    #[test]
    fn runs_that_went_on_in_another_arithmetic_are_named() {
        let mut document = Document::of(&example());
        let note = |document: &Document| {
            notes(document).into_iter().find(|note| note.contains("bit for bit"))
        };
        document.runs[0].arithmetics = vec!["flex with avx512".into()];
        assert_eq!(note(&document), None);
        document.runs[0].arithmetics.insert(0, "flex with avx2".into());
        let note = note(&document).unwrap();
        assert!(note.starts_with("1 of 24 runs went on"), "{note}");
        assert!(note.contains("seed 1 (flex with avx2, flex with avx512)"), "{note}");
    }

    #[test]
    fn runs_beside_the_plan_are_noted_where_there_are_some() {
        let mut document = Document::of(&example());
        assert_eq!(beside(&document), None);
        document.runs[0].planned = false;
        let some = beside(&document).unwrap();
        assert!(some.starts_with("1 of 24 runs are not in the plan"), "{some}");
        document.runs.iter_mut().for_each(|run| run.planned = false);
        assert!(beside(&document).unwrap().starts_with("No comparison was planned here"));
    }
}
