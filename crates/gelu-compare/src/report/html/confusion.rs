//! Which classes are taken for which, where runs have counted that.

use super::Results;
use crate::comparison::{Headings, best_groups};
use crate::measure::Confusion;
use crate::runs::ComparisonSnapshot;
use serde::Serialize;

/// Of more classes the pairs alone are shown that are confused most.
const MOST_CLASSES: usize = 20;
/// So many of them.
const PAIRS: usize = 10;

/// What the runs of one arm took for what.
#[derive(Serialize)]
pub(super) struct ConfusionTable {
    title: String,
    /// Whether the rows are classes, or else pairs of them.
    whole: bool,
    table: Results,
}

/// Of every arm at its best setting, its complete runs together.
pub(super) fn confusions(snapshot: &ComparisonSnapshot) -> Vec<ConfusionTable> {
    let groups = best_groups(snapshot);
    let headings = Headings::of(&snapshot.axes, groups.iter().map(|group| &group.context));
    let table = |group: &crate::comparison::Group<'_>| {
        let kept: Vec<&Confusion> =
            group.complete().runs.iter().filter_map(|run| run.confusion.as_deref()).collect();
        let (first, others) = kept.split_first()?;
        let mut all = (*first).clone();
        others.iter().filter(|other| other.names() == first.names()).for_each(|other| all += other);
        let runs =
            if kept.len() == 1 { "1 run".to_owned() } else { format!("{} runs", kept.len()) };
        let title = format!("{}, {runs}", snapshot.label(&group.arm));
        let whole = all.names().len() <= MOST_CLASSES;
        let table = if whole { matrix(&all) } else { pairs(&all) };
        Some(ConfusionTable { title: headings.head(&group.context, &title), whole, table })
    };
    groups.iter().filter_map(table).collect()
}

fn percent(count: u64, all: u64) -> String {
    match (count, all) {
        (_, 0) => "–".to_owned(),
        (0, _) => "0".to_owned(),
        _ => format!("{:.1}", 100.0 * count as f64 / all as f64),
    }
}

/// A row for each class, in percent of its examples.
fn matrix(confusion: &Confusion) -> Results {
    let mut header = vec!["class".to_owned()];
    header.extend(confusion.names().iter().cloned());
    header.push("examples".to_owned());
    let row = |(class, name): (usize, &String)| {
        let counts = confusion.counts(class);
        let all = counts.iter().sum();
        let mut row = vec![name.clone()];
        row.extend(counts.iter().map(|&count| percent(count, all)));
        row.push(all.to_string());
        row
    };
    Results { header, rows: confusion.names().iter().enumerate().map(row).collect() }
}

/// The classes that are taken for another most often.
fn pairs(confusion: &Confusion) -> Results {
    let mut pairs = Vec::new();
    for class in 0..confusion.names().len() {
        let counts = confusion.counts(class);
        let all: u64 = counts.iter().sum();
        let wrong =
            counts.iter().enumerate().filter(|(named, count)| *named != class && **count > 0);
        pairs.extend(wrong.map(|(named, &count)| (count, all, class, named)));
    }
    pairs.sort_by(|a, b| b.0.cmp(&a.0).then(a.2.cmp(&b.2)).then(a.3.cmp(&b.3)));
    let name = |class: usize| confusion.names()[class].clone();
    let row = |(count, all, class, named): (u64, u64, usize, usize)| {
        vec![name(class), name(named), count.to_string(), percent(count, all)]
    };
    let header = ["class", "taken for", "examples", "% of the class"].map(str::to_owned).to_vec();
    Results { header, rows: pairs.into_iter().take(PAIRS).map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::snapshot_example::example;
    use std::sync::Arc;

    #[test]
    fn the_runs_of_an_arm_are_counted_together() {
        let mut snapshot = example();
        assert!(confusions(&snapshot).is_empty());
        for run in &mut snapshot.runs {
            let wrong = usize::from(run.key.setting.text("activation") == "relu");
            let names = ["a", "b"].map(str::to_owned);
            let pairs = (0..4).map(|i| (0, if i == 0 { wrong } else { 0 }));
            run.confusion = Some(Arc::new(Confusion::of(&names, pairs)));
        }
        let tables = confusions(&snapshot);
        assert_eq!(tables.len(), 4, "two arms at two dropout rates");
        let relu = tables.iter().find(|table| table.title.contains("ReLU")).unwrap();
        assert!(relu.whole && relu.title.contains("3 runs"), "{}", relu.title);
        assert_eq!(relu.table.header, ["class", "a", "b", "examples"]);
        assert_eq!(relu.table.rows, [["a", "75.0", "25.0", "12"], ["b", "–", "–", "0"]]);
    }

    #[test]
    fn of_many_classes_the_most_confused_are_listed() {
        let names: Vec<String> = (0..30).map(|class| format!("c{class}")).collect();
        let taken = (0..30).flat_map(|class| (0..class).map(move |_| (class, (class + 1) % 30)));
        let Results { rows, .. } = pairs(&Confusion::of(&names, taken));
        assert_eq!(
            (rows.len(), rows[0].clone()),
            (PAIRS, ["c29", "c0", "29", "100.0"].map(str::to_owned).to_vec())
        );
    }
}
