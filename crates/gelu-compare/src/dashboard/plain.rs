use super::clock::Clock;
use crate::comparison::{Headings, differences};
use crate::extension::extensions;
use crate::measure::{EpochMetrics, Measure, Split, duration};
use crate::runs::{RunKey, RunSnapshot, RunStatus, Snapshot};
use crate::setting::Setting;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// Reports a comparison as lines: one when a run begins or continues, one per finished epoch, one when the run ends.
/// From successive snapshots, it reports everything once.
#[derive(Debug, Default)]
pub struct PlainReporter {
    told: HashMap<RunKey, ShownRun>,
    /// The arms and contexts whose verdict was reported.
    decided: HashSet<(Setting, Setting)>,
    /// The number of complete runs when verdicts were last made.
    complete: usize,
    clock: Clock,
}

/// The parts of a run that were reported.
#[derive(Clone, Copy, Debug, Default)]
struct ShownRun {
    begun: bool,
    epochs: usize,
    ended: bool,
}

impl PlainReporter {
    /// Creates a reporter that reports everything from the beginning.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a reporter that does not report what `snapshot` already has.
    pub fn after(snapshot: &Snapshot) -> Self {
        let told = |run: &RunSnapshot| {
            let ended = run.status.is_over();
            (run.key.clone(), ShownRun { begun: ended, epochs: run.epochs.len(), ended })
        };
        let told = snapshot.runs.iter().map(told).collect();
        let mut reporter = Self { told, ..Self::default() };
        reporter.verdicts(snapshot);
        reporter.clock.read(snapshot);
        reporter
    }

    /// Returns what is new since the last call, as whole lines.
    pub fn lines(&mut self, snapshot: &Snapshot) -> String {
        let (mut lines, count) = (String::new(), snapshot.runs.len());
        let left = self.clock.read(snapshot).left.filter(|left| left.as_secs() > 0);
        let left = left.map_or_else(String::new, |left| format!(", about {} left", duration(left)));
        for (index, run) in snapshot.runs.iter().enumerate() {
            let told = self.told.entry(run.key.clone()).or_default();
            let head =
                format!("[{:>width$}/{count}] {}", index + 1, run.name, width = digits(count));
            if run.status == RunStatus::Running && !told.begun {
                // Short runs may have finished epochs before they are first seen.
                let epochs = match told.epochs.min(run.epochs.len()) {
                    0 => match snapshot.epochs_of(run).filter(|&planned| planned > 1) {
                        Some(planned) => format!("begins, {planned} epochs"),
                        None => "begins".to_owned(),
                    },
                    done => match snapshot.epochs_of(run).filter(|&planned| planned > done) {
                        Some(planned) => format!("goes on after epoch {done}/{planned}"),
                        None => format!("goes on after epoch {done}"),
                    },
                };
                writeln!(lines, "{head}  {epochs}").expect("writing to memory cannot fail");
                told.begun = true;
            }
            for epoch in run.epochs.iter().skip(told.epochs) {
                let planned = snapshot.epochs_of(run).filter(|&planned| planned >= epoch.epoch);
                let width = WIDTH.saturating_sub(head.chars().count() + 2);
                let (measures, primary) = (&snapshot.design.measures, &snapshot.criterion.primary);
                let line = epoch_line_within(width, measures, primary, epoch, planned);
                writeln!(lines, "{head}  {line}").expect("writing to memory cannot fail");
            }
            told.epochs = told.epochs.max(run.epochs.len());
            let ended = match &run.status {
                RunStatus::Finished if run.seconds > 0.0 => {
                    let pace = run.seconds / run.epochs.len().max(1) as f64;
                    Some(format!("finished, {pace:.2} s an epoch"))
                }
                status if status.is_over() => Some(status.to_string()),
                _ => None,
            };
            // A run that failed earlier may run again.
            told.ended &= run.status.is_over();
            if let Some(ended) = ended.filter(|_| !told.ended) {
                writeln!(lines, "{head}  {ended}{left}").expect("writing to memory cannot fail");
                told.ended = true;
            }
        }
        lines + &self.verdicts(snapshot)
    }

    /// Returns lines with the verdicts reached since the last call, if the test checks after every seed.
    fn verdicts(&mut self, snapshot: &Snapshot) -> String {
        let complete = snapshot.runs.iter().filter(|run| run.status.is_complete()).count();
        if !snapshot.criterion.schedule.until_decided || complete == self.complete {
            return String::new();
        }
        self.complete = complete;
        let mut lines = String::new();
        let differences = differences(snapshot);
        let headings = Headings::of(&snapshot.design.axes, differences.iter().map(|d| &d.context));
        for difference in &differences {
            let key = (difference.arm.clone(), difference.context.clone());
            if !difference.finding.is_open() && self.decided.insert(key) {
                let said = headings.head(&difference.context, &difference.finding.sentence);
                writeln!(lines, "[decided] {said}").expect("writing to memory cannot fail");
            }
        }
        lines
    }
}

/// Number of columns of a line.
const WIDTH: usize = 100;

/// Formats a finished epoch: `epoch  3/10  test error 4.10 %  train loss 0.1234  …`, or `epoch 3  …` if the number of
/// epochs is unknown. The measure named `primary`, which decides, comes first; the learning rate and
/// [details](crate::extension::Extension::is_detail) come last. Measures beyond 100 columns are left out; they are in
/// `metrics.csv`.
pub fn epoch_line(
    measures: &[Measure],
    primary: &str,
    epoch: &EpochMetrics,
    planned: Option<usize>,
) -> String {
    epoch_line_within(WIDTH, measures, primary, epoch, planned)
}

fn epoch_line_within(
    width: usize,
    measures: &[Measure],
    primary: &str,
    epoch: &EpochMetrics,
    planned: Option<usize>,
) -> String {
    let mut line = match planned {
        Some(planned) => {
            format!("epoch {:>width$}/{planned}", epoch.epoch, width = digits(planned))
        }
        None => format!("epoch {}", epoch.epoch),
    };
    let trained = |measure: &Measure| measure.split == Some(Split::Train);
    let rank = |measure: &Measure| match measure.unit.factor != 1.0 {
        _ if measure.name == primary => Some(0),
        _ if extensions().iter().any(|by| by.is_detail(&measure.column)) => Some(4),
        _ if measure.name == "learning_rate" => Some(3),
        false => Some(1),
        // The error on training examples says little more than their loss.
        true => (!trained(measure)).then_some(2),
    };
    let mut ranked: Vec<(u8, &Measure)> =
        measures.iter().filter_map(|measure| Some((rank(measure)?, measure))).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    for (index, (_, measure)) in ranked.into_iter().enumerate() {
        let Some(value) = epoch.get(&measure.column) else { continue };
        let name = measure.column.replace('_', " ");
        let shown = format!("  {name} {}", measure.unit.shown(value));
        if index > 0 && line.chars().count() + shown.chars().count() > width {
            break;
        }
        line.push_str(&shown);
    }
    line
}

fn digits(number: usize) -> usize {
    number.to_string().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::statistics::Schedule;
    use crate::measure::Unit;
    use crate::testing::{example, without_epochs};

    #[test]
    fn an_epoch_is_one_of_as_many_as_are_known_of() {
        let epoch = EpochMetrics::new(3);
        assert_eq!(epoch_line(&[], "", &epoch, Some(10)), "epoch  3/10");
        assert_eq!(epoch_line(&[], "", &epoch, None), "epoch 3");
    }

    #[test]
    fn what_decides_comes_first_and_details_come_last() {
        crate::extension::example::install();
        let detail = "detail_of_layer";
        let mut epoch = EpochMetrics::new(1);
        for column in
            [detail, "learning_rate", "valid_loss", "train_error", "test_loss", "test_error"]
        {
            epoch.set(column, 0.5);
        }
        let unit = Unit::points();
        let measures: Vec<Measure> =
            epoch.measured().map(|(name, _)| Measure::named(name)).collect();
        let measures: Vec<Measure> = measures
            .into_iter()
            .map(|m| if m.quantity == "error" { Measure { unit: unit.clone(), ..m } } else { m })
            .collect();
        assert_eq!(
            epoch_line(&measures, "test_loss", &epoch, None),
            "epoch 1  test loss 0.5000  valid loss 0.5000  test error 50.00 %  learning rate 0.5000"
        );
        // A detail goes beyond 100 columns here, and fits after less.
        let last = format!("  {} 0.5000", detail.replace('_', " "));
        epoch.set("valid_loss", None);
        assert!(epoch_line(&measures, "test_loss", &epoch, None).ends_with(&last));
        // The primary measure is shown even if it would be left out otherwise.
        let line = epoch_line(&measures, "train_error", &epoch, None);
        assert!(line.starts_with("epoch 1  train error 50.00 %  test loss"), "{line}");
    }

    #[test]
    fn where_no_run_is_complete_and_nobody_says_how_many_epochs_there_are_none_is_the_last() {
        let mut snapshot = example();
        snapshot.design.epochs = None;
        let whole = snapshot.clone();
        for run in &mut snapshot.runs {
            (run.epochs_planned, run.status) = (1, RunStatus::Running);
            run.epochs.truncate(1);
        }
        let text = PlainReporter::new().lines(&snapshot);
        assert!(text.contains("  epoch 1  test error") && !text.contains("1/1"), "{text}");
        assert!(PlainReporter::new().lines(&whole).contains("  epoch  1/12  test error"));
    }

    #[test]
    fn every_epoch_and_every_end_is_told_once() {
        let snapshot = example();
        let mut reporter = PlainReporter::new();
        let mut half = snapshot.clone();
        for run in &mut half.runs {
            run.epochs.truncate(3);
            run.status = RunStatus::Running;
        }
        let mut begun = half.clone();
        begun.runs.iter_mut().for_each(|run| run.epochs.clear());
        let mut text = reporter.lines(&begun);
        assert!(text.starts_with("[ 1/24] gelu lr 0.001 dropout 0 seed 1  begins, 12 epochs\n"));
        text += &reporter.lines(&half);
        text += &reporter.lines(&half);
        text += &reporter.lines(&snapshot);
        text += &reporter.lines(&snapshot);
        let epochs: usize = snapshot.runs.iter().map(|run| run.epochs.len()).sum();
        assert_eq!(text.matches("  epoch ").count(), epochs);
        assert_eq!(text.matches("finished, 2.00 s an epoch").count(), 22);
        assert_eq!(text.matches("diverged in epoch 5").count(), 2);
        assert_eq!(text.matches("begins").count(), 24);
        let first = "[ 1/24] gelu lr 0.001 dropout 0 seed 1  epoch  1/12  test error";
        assert!(text.contains(first), "{text}");
    }

    #[test]
    fn a_verdict_is_told_once_when_it_is_made() {
        let mut snapshot = example();
        let pattern = snapshot.runs.swap_remove(0);
        snapshot.criterion.schedule = Schedule::until_decided(20);
        snapshot.criterion.comparisons = 1;
        snapshot.runs.clear();
        let mut reporter = PlainReporter::new();
        for seed in 1..=8 {
            assert!(!reporter.lines(&snapshot).contains("[decided]"), "before seed {seed}");
            for (activation, error) in [("gelu", 0.02), ("relu", 0.03 + 1e-4 * seed as f64)] {
                let mut run = pattern.clone();
                run.key.setting.set("activation", activation);
                run.key.seed = seed;
                run.epochs.last_mut().unwrap().set("test_error", error);
                snapshot.runs.push(run);
            }
        }
        let lines = reporter.lines(&snapshot);
        assert!(lines.contains("[decided] GELU beats ReLU by 1.0"), "{lines}");
        assert_eq!(reporter.lines(&snapshot), "");
        assert_eq!(PlainReporter::after(&snapshot).lines(&snapshot), "");
    }

    #[test]
    fn a_run_taken_up_again_is_told_with_where_it_was() {
        let mut snapshot = example();
        snapshot.runs.truncate(1);
        snapshot.runs[0].epochs.truncate(3);
        snapshot.runs[0].status = RunStatus::Interrupted;
        let mut reporter = PlainReporter::after(&snapshot);
        snapshot.runs[0].status = RunStatus::Running;
        let line = "[1/1] gelu lr 0.001 dropout 0 seed 1  goes on after epoch 3/12\n";
        assert_eq!(reporter.lines(&snapshot), line);
        assert_eq!(reporter.lines(&snapshot), "");
        snapshot.runs[0].epochs_planned = 3;
        snapshot.runs[0].status = RunStatus::Interrupted;
        let mut reporter = PlainReporter::after(&snapshot);
        snapshot.runs[0].status = RunStatus::Running;
        assert!(reporter.lines(&snapshot).ends_with("goes on after epoch 3\n"));
    }

    #[test]
    fn a_run_that_is_first_seen_with_epochs_has_begun_all_the_same() {
        let mut snapshot = example();
        snapshot.runs.truncate(1);
        snapshot.runs[0].status = RunStatus::Running;
        let mut fresh = snapshot.clone();
        fresh.runs[0].epochs.clear();
        fresh.runs[0].status = RunStatus::Waiting;
        let mut reporter = PlainReporter::after(&fresh);
        let lines = reporter.lines(&snapshot);
        assert!(
            lines.starts_with("[1/1] gelu lr 0.001 dropout 0 seed 1  begins, 12 epochs\n"),
            "{lines}"
        );
        assert_eq!(lines.matches("  epoch ").count(), 12);
    }

    #[test]
    fn what_was_there_before_is_not_told() {
        let snapshot = example();
        assert_eq!(PlainReporter::after(&snapshot).lines(&snapshot), "");
        let all = PlainReporter::after(&without_epochs()).lines(&snapshot);
        assert!(all.contains("[12/24]"), "{all}");
    }
}
