//! Report section with the confusion tables of runs that saved them.

use super::{Confusion, ReadRun};
use gelu_compare::comparison::{Group, Headings, best_groups};
use gelu_compare::extension::{Section, SectionTable};
use gelu_compare::runs::Snapshot;

/// The largest number of classes for a full table. With more classes, the report lists only the most frequent
/// confusions.
const MOST_CLASSES: usize = 20;
/// The number of listed confusions.
const PAIRS: usize = 10;

/// Header and rows.
type Cells = (Vec<String>, Vec<Vec<String>>);

/// Returns a confusion table per arm at its best setting, summed over its complete runs; `None` if no run has a
/// table.
pub(super) fn section(snapshot: &Snapshot) -> Option<Section> {
    let groups = best_groups(snapshot);
    let headings = Headings::of(&snapshot.design.axes, groups.iter().map(|group| &group.context));
    let table = |group: &Group<'_>| {
        let complete = group.complete();
        let read = complete.runs.iter().filter_map(|run| run.extras.get::<ReadRun>());
        let counted: Vec<&Confusion> = read.filter_map(|read| read.confusion.as_ref()).collect();
        let (first, others) = counted.split_first()?;
        let mut all = (*first).clone();
        others.iter().filter(|other| other.names() == first.names()).for_each(|other| all += other);
        let runs = match counted.len() {
            1 => "1 run".to_owned(),
            count => format!("{count} runs"),
        };
        let is_whole = all.names().len() <= MOST_CLASSES;
        let of = if is_whole { "" } else { ": the most frequent confusions" };
        let title = format!("{}, {runs}{of}", snapshot.label(&group.arm));
        let (header, rows) = if is_whole { matrix(&all) } else { pairs(&all) };
        let title = headings.head(&group.context, &title);
        Some(SectionTable { title, is_open: false, header, rows })
    };
    let mut tables: Vec<SectionTable> = groups.iter().filter_map(table).collect();
    tables.first_mut()?.is_open = true;
    Some(Section {
        id: "confusion",
        title: "Which classes are taken for which".to_owned(),
        sentences: Vec::new(),
        note: "Test examples, at the chosen setting of each, all runs together. A row is a class of examples; its cells say \
               in percent what they were taken for."
            .to_owned(),
        tables,
    })
}

fn percent(count: u64, all: u64) -> String {
    match (count, all) {
        (_, 0) => "–".to_owned(),
        (0, _) => "0".to_owned(),
        _ => format!("{:.1}", 100.0 * count as f64 / all as f64),
    }
}

/// Returns a table with one row per class, in percent of the class's examples.
fn matrix(confusion: &Confusion) -> Cells {
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
    (header, confusion.names().iter().enumerate().map(row).collect())
}

/// Returns the most frequent confusions.
fn pairs(confusion: &Confusion) -> Cells {
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
    (header, pairs.into_iter().take(PAIRS).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gelu_compare::extension::Extras;
    use gelu_compare::testing::example;

    #[test]
    fn the_runs_of_an_arm_are_counted_together() {
        let mut snapshot = example();
        assert!(section(&snapshot).is_none());
        for run in &mut snapshot.runs {
            let wrong = usize::from(run.key.setting.text("activation") == "relu");
            let names = ["a", "b"].map(str::to_owned);
            let pairs = (0..4).map(|i| (0, if i == 0 { wrong } else { 0 }));
            let confusion = Some(Confusion::of(&names, pairs));
            run.extras = Extras::default().with(ReadRun { confusion, ..ReadRun::default() });
        }
        let tables = section(&snapshot).unwrap().tables;
        assert_eq!(tables.len(), 4, "two arms at two dropout rates");
        assert!(tables[0].is_open && !tables[1].is_open);
        let relu = tables.iter().find(|table| table.title.contains("ReLU")).unwrap();
        assert!(relu.title.ends_with("3 runs"), "{}", relu.title);
        assert_eq!(relu.header, ["class", "a", "b", "examples"]);
        assert_eq!(relu.rows, [["a", "75.0", "25.0", "12"], ["b", "–", "–", "0"]]);
    }

    #[test]
    fn of_many_classes_the_most_confused_are_listed() {
        let names: Vec<String> = (0..30).map(|class| format!("c{class}")).collect();
        let taken = (0..30).flat_map(|class| (0..class).map(move |_| (class, (class + 1) % 30)));
        let (_, rows) = pairs(&Confusion::of(&names, taken));
        assert_eq!(
            (rows.len(), rows[0].clone()),
            (PAIRS, ["c29", "c0", "29", "100.0"].map(str::to_owned).to_vec())
        );
    }
}
