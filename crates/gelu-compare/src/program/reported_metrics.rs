//! The epochs that a program reports.

use super::output::{Measures, Reading};
use crate::measure::EpochMetrics;

/// The reported epochs, in order and without gaps. Each `epoch` that is larger than the one before begins a new
/// epoch. A program that continues after a kill reports the following epochs, and the earlier ones remain.
#[derive(Debug, Default)]
pub(super) struct ReportedMetrics {
    epochs: Vec<EpochMetrics>,
    /// The program's number of each epoch; −∞ if the program has not reported one.
    numbers: Vec<f64>,
    last: Option<f64>,
    /// The reports since the program was started again, until it reports an epoch.
    again: Option<Measures>,
    /// The measures that must be finite numbers.
    required: Vec<String>,
    lost: Option<usize>,
    /// The required measures whose last report was not a number, with the reported text.
    missing: Vec<(String, String)>,
}

impl ReportedMetrics {
    /// Creates an empty value. `required` are the measures that must be finite numbers.
    pub(super) fn of<'a>(required: impl Iterator<Item = &'a str>) -> Self {
        Self { required: required.map(str::to_owned).collect(), ..Self::default() }
    }

    /// Records that the program is started again. It then continues from some epoch, or begins anew.
    pub(super) fn start_again(&mut self) {
        self.again = (!self.epochs.is_empty()).then(Vec::new);
    }

    /// Adds the measures of a line. Returns whether they end an epoch.
    pub(super) fn hear(&mut self, reported: Measures) -> bool {
        let number = reported.iter().find_map(|(name, reading)| match reading {
            Reading::Number(number) if name == "epoch" => Some(*number),
            _ => None,
        });
        match (self.again.take(), number) {
            (None, _) => {}
            (Some(again), Some(number)) => {
                let kept = self.numbers.partition_point(|known| *known < number);
                self.keep(kept);
                if kept == 0 {
                    self.take(again, None);
                }
            }
            (Some(mut again), None) => {
                again.extend(reported);
                self.again = Some(again);
                return false;
            }
        }
        self.take(reported, number)
    }

    /// Records that the program has ended. If it was started again and reported measures without an epoch, it began
    /// anew.
    pub(super) fn settle(&mut self) {
        if let Some(again) = self.again.take().filter(|again| !again.is_empty()) {
            self.keep(0);
            self.take(again, None);
        }
    }

    fn keep(&mut self, count: usize) {
        self.epochs.truncate(count);
        self.numbers.truncate(count);
        self.last = self.numbers.last().copied().filter(|number| number.is_finite());
        self.lost = self.lost.filter(|lost| *lost <= count);
    }

    fn take(&mut self, reported: Measures, number: Option<f64>) -> bool {
        let (reported, others): (Vec<_>, Vec<_>) =
            reported.into_iter().partition(|(_, reading)| matches!(reading, Reading::Number(_)));
        self.missing.retain(|(name, _)| reported.iter().all(|(known, _)| known != name));
        self.missing.extend(others.into_iter().filter_map(|(name, reading)| match reading {
            Reading::Other(text) => self.required.contains(&name).then_some((name, text)),
            Reading::Number(_) => None,
        }));
        if reported.is_empty() {
            return false;
        }
        let new = match (number, self.last) {
            (Some(number), Some(last)) => number > last,
            (Some(_), None) => true,
            (None, _) => self.epochs.is_empty(),
        };
        // Measures reported before the first epoch belong to that epoch.
        let begun =
            self.last.is_none() && self.epochs.len() == 1 && number.is_some_and(|n| n <= 1.0);
        let ended = new && !self.epochs.is_empty() && !begun;
        if new && !begun {
            self.epochs.push(EpochMetrics::new(self.epochs.len() + 1));
            self.numbers.push(number.unwrap_or(f64::NEG_INFINITY));
        } else if let (true, Some(number)) = (begun, number) {
            self.numbers[0] = number;
        }
        self.last = number.or(self.last);
        if let Some(epoch) = self.epochs.last_mut() {
            for (name, reading) in reported.into_iter().filter(|(name, _)| name != "epoch") {
                let Reading::Number(value) = reading else { continue };
                if !value.is_finite() && self.required.contains(&name) {
                    self.lost.get_or_insert(epoch.epoch);
                }
                epoch.set(&name, value);
            }
        }
        ended
    }

    /// Returns lines with the same content, one per epoch.
    pub(super) fn lines(&self) -> Vec<Measures> {
        let line = |(epoch, number): (&EpochMetrics, &f64)| {
            let number = Some(*number).filter(|number| number.is_finite());
            let number = number.map(|number| ("epoch", number)).into_iter();
            let all = number.chain(epoch.measured());
            all.map(|(name, value)| (name.to_owned(), Reading::Number(value))).collect()
        };
        self.epochs.iter().zip(&self.numbers).map(line).collect()
    }

    /// Returns all epochs.
    pub(super) fn epochs(&self) -> &[EpochMetrics] {
        &self.epochs
    }

    /// Returns the first epoch in which a required measure was not a finite number.
    pub(super) fn lost(&self) -> Option<usize> {
        self.lost
    }

    /// Returns a required measure whose last report was not a number, with the reported text.
    pub(super) fn missing(&self) -> Option<(&str, &str)> {
        self.missing.first().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Returns the epochs to store: up to the first invalid one, and only finite values.
    pub(super) fn kept(&self) -> Vec<EpochMetrics> {
        self.finite(self.lost.map_or(self.epochs.len(), |lost| lost - 1))
    }

    /// Returns the finished epochs: all but the current one.
    pub(super) fn ended(&self) -> Vec<EpochMetrics> {
        self.finite(self.epochs.len().saturating_sub(1))
    }

    fn finite(&self, until: usize) -> Vec<EpochMetrics> {
        let finite = |epoch: &EpochMetrics| {
            let mut epoch = epoch.clone();
            for (_, value) in &mut epoch.values {
                *value = value.filter(|value| value.is_finite());
            }
            epoch
        };
        self.epochs[..until].iter().map(finite).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::ProgramRecipe;
    use super::super::output::LineReader;
    use super::*;

    fn measures(line: &str) -> Option<Measures> {
        LineReader::of(&ProgramRecipe::new("train", "loss")).read(line).unwrap()
    }

    fn reported(lines: &[&str]) -> ReportedMetrics {
        let mut all = ReportedMetrics::of(["loss"].into_iter());
        for line in lines {
            if let Some(measures) = measures(line) {
                all.hear(measures);
            }
        }
        all
    }

    fn shown(reported: &ReportedMetrics) -> Vec<String> {
        reported.epochs().iter().map(|epoch| serde_json::to_string(epoch).unwrap()).collect()
    }

    #[test]
    fn epochs_are_told_line_by_line_and_what_comes_without_one_belongs_to_the_last() {
        let all = reported(&[
            "loading …",
            r#"{"epoch": 0, "loss": 2.5, "note": "text"}"#,
            r#"{"epoch": 0, "valid_loss": 3}"#,
            r#"{"epoch": 10, "loss": 1.5}"#,
            r#"{"test_error": 0.25}"#,
            "{not json}",
        ]);
        let expected = [
            r#"{"epoch":1,"loss":2.5,"valid_loss":3.0}"#,
            r#"{"epoch":2,"loss":1.5,"test_error":0.25}"#,
        ];
        assert_eq!(shown(&all), expected);
    }

    #[test]
    fn without_epochs_the_last_value_counts() {
        let all = reported(&[r#"{"loss": 2}"#, r#"{"loss": 1, "error": 0.5}"#]);
        assert_eq!(shown(&all), [r#"{"epoch":1,"loss":1.0,"error":0.5}"#]);
        let first = reported(&[r#"{"parameters": 7}"#, r#"{"epoch": 1, "loss": 1}"#]);
        assert_eq!(shown(&first), [r#"{"epoch":1,"parameters":7.0,"loss":1.0}"#]);
    }

    /// Returns the losses after three epochs with these `numbers`, and a second start that reports `lines`.
    fn again(numbers: [f64; 3], lines: &[&str]) -> Vec<f64> {
        let mut all = ReportedMetrics::of(["loss"].into_iter());
        for (number, loss) in numbers.into_iter().zip([1.0, 0.5, 0.4]) {
            let reported = [("epoch", number), ("loss", loss)];
            all.hear(
                reported.map(|(name, number)| (name.to_owned(), Reading::Number(number))).to_vec(),
            );
        }
        all.start_again();
        lines.iter().filter_map(|line| measures(line)).for_each(|reported| {
            all.hear(reported);
        });
        all.settle();
        all.epochs().iter().filter_map(|epoch| epoch.get("loss")).collect()
    }

    #[test]
    fn a_program_that_goes_on_keeps_what_it_told_before() {
        let third = r#"{"epoch": 3, "loss": 0.25}"#;
        assert_eq!(again([1.0, 2.0, 3.0], &[third]), [1.0, 0.5, 0.25]);
        assert_eq!(again([1.0, 2.0, 3.0], &[r#"{"parameters": 7}"#, third]), [1.0, 0.5, 0.25]);
        // An epoch without a report is missing, and nothing else changes.
        assert_eq!(again([1.0, 2.0, 3.0], &[r#"{"epoch": 5, "loss": 0.1}"#]), [1.0, 0.5, 0.4, 0.1]);
        assert_eq!(again([10.0, 20.0, 30.0], &[r#"{"epoch": 30, "loss": 0.2}"#]), [1.0, 0.5, 0.2]);
        // The program was killed after its last epoch.
        assert_eq!(again([1.0, 2.0, 3.0], &[]), [1.0, 0.5, 0.4]);
    }

    #[test]
    fn a_program_that_begins_anew_has_told_nothing_before() {
        assert_eq!(again([1.0, 2.0, 3.0], &[r#"{"epoch": 1, "loss": 7}"#]), [7.0]);
        assert_eq!(again([0.0, 1.0, 2.0], &[r#"{"epoch": 0, "loss": 7}"#]), [7.0]);
        assert_eq!(again([1.0, 2.0, 3.0], &[r#"{"loss": 7}"#, r#"{"loss": 6}"#]), [6.0]);
        let first = [r#"{"parameters": 7}"#, r#"{"epoch": 1, "loss": 1}"#];
        assert_eq!(again([1.0, 2.0, 3.0], &first), [1.0]);
    }

    #[test]
    fn what_decides_and_is_null_in_the_end_is_missing() {
        let missing = |lines: &[&str]| {
            reported(lines)
                .missing()
                .map(|(name, text)| format!("{name} {text}"))
                .unwrap_or_default()
        };
        let value = r#"{"epoch": 1, "loss": 1}"#;
        assert_eq!(missing(&[value, r#"{"epoch": 2, "loss": null}"#]), "loss null");
        assert_eq!(missing(&[value, r#"{"loss": "n/a"}"#]), "loss \"n/a\"");
        assert_eq!(missing(&[value, r#"{"epoch": 2, "loss": null}"#, r#"{"loss": 2}"#]), "");
        assert_eq!(missing(&[value, r#"{"epoch": 2, "other": null}"#]), "");
        // `null` makes no epoch and removes no value.
        let all = reported(&[value, r#"{"loss": null}"#]);
        assert_eq!(shown(&all), [r#"{"epoch":1,"loss":1.0}"#]);
        assert!(reported(&[r#"{"loss": "mse"}"#]).epochs().is_empty());
    }

    #[test]
    fn what_is_no_number_is_a_run_that_diverged() {
        let all = reported(&[
            r#"{"epoch": 1, "loss": 1}"#,
            r#"{"epoch": 2, "loss": NaN, "x":-Infinity}"#,
        ]);
        assert_eq!((all.lost(), all.kept().len(), all.ended().len()), (Some(2), 1, 1));
        let other =
            reported(&[r#"{"epoch": 1, "loss": 1, "x": NaN}"#, r#"{"epoch": 2, "loss": 2}"#]);
        assert_eq!((other.lost(), other.kept().len()), (None, 2));
        assert_eq!((other.kept()[0].get("x"), other.kept()[0].get("loss")), (None, Some(1.0)));
        // The first line counts too.
        let first = reported(&[r#"{"loss": NaN}"#, r#"{"loss": 1}"#]);
        assert_eq!((first.lost(), first.kept().len(), first.ended().len()), (Some(1), 0, 0));
    }
}
