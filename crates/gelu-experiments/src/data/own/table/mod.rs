//! A table in a CSV file: a row is an example, one column its class, the others its inputs.

mod cells;
mod column;
mod reader;

use super::Asked;
use super::checks::{ORDER_SEED, check_classes, check_file, name_of};
use crate::data::files::read_bytes;
use crate::data::text::{from_utf8, shown};
use crate::data::{DataSource, WindowReader, WindowSet, Windows};
use crate::error::Place;
use crate::names::excerpts;
use crate::{Error, Result};
use cells::Table;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::path::Path;

pub use reader::RowReader;

/// What a split column says, in the order of the parts.
const PARTS: [&str; 3] = ["train", "valid", "test"];
/// Where there is no such column, these of every ten rows of a class choose and are reported on. No two rows in
/// turn do, so that a class of two rows has one to train on.
const CHOOSING: usize = 4;
const REPORTED: usize = 9;
const SHARES: usize = 10;

/// Reads a table: UTF-8, commas, a line of names first. Columns of numbers are moved and scaled so that those
/// to train on have mean 0 and variance 1; of a column of texts, each different text is an input, 1 or 0.
/// Without a column that says so, of each class one row in ten chooses and one is reported on.
///
/// # Errors
///
/// When the file cannot be read, has no row, a row of another length, two columns of one name, no column that
/// is asked for, a cell that is empty or no finite number among numbers, texts that stand for numbers or differ
/// in every row, fewer than two classes or more than 256, a class that is a fraction, or has one row or none to
/// train on, or a part without a row.
pub fn read(asked: &Asked, path: &Path) -> Result<WindowSet> {
    check_file(path)?;
    parse(asked, path, &read_bytes(path)?)
}

/// How each column is read, or why it cannot be, a line for each.
///
/// # Errors
///
/// When the file is no table.
pub fn columns(asked: &Asked, path: &Path) -> Result<Vec<String>> {
    check_file(path)?;
    let bytes = read_bytes(path)?;
    let table = Table::parse(path, from_utf8(path, &bytes)?)?;
    let is = |name: &str, asked: &Option<String>| asked.as_deref() == Some(name);
    let how = |column: usize, name: &str| match name {
        name if is(name, &asked.target) => match table.labels(column) {
            Ok(labels) => format!("the class, {}", in_words(&labels)),
            Err(error) => format!("the class; {error}"),
        },
        name if is(name, &asked.split) => "says which part a row is in".to_owned(),
        name if asked.ignore.iter().any(|ignored| ignored == name) => "left out".to_owned(),
        _ => table.in_words(column),
    };
    let names = table.header.iter().enumerate();
    Ok(names.map(|(column, name)| format!("{}: {}", shown(name), how(column, name))).collect())
}

/// How many classes there are, and how many rows of each.
fn in_words(labels: &[u8]) -> String {
    let rows = rows_of_classes(labels, 0..labels.len());
    let (least, most) = (rows.values().min(), rows.values().max());
    let (least, most) = (least.unwrap_or(&0), most.unwrap_or(&0));
    match least == most {
        true => format!("{} classes of {most} rows", rows.len()),
        false => format!("{} classes of {least} to {most} rows", rows.len()),
    }
}

/// Reads the content of a table; `path` is what errors call it.
///
/// # Errors
///
/// As [`read`].
pub fn parse(asked: &Asked, path: &Path, bytes: &[u8]) -> Result<WindowSet> {
    let table = Table::parse(path, from_utf8(path, bytes)?)?;
    let Layout { target, left_out, labels, parts } = layout(asked, &table)?;
    let reader = table.reader(&left_out, &parts[0])?;
    let inputs = table.inputs(&reader)?;
    let classes = labels.iter().max().map_or(0, |&label| usize::from(label) + 1);
    let mut names = vec![String::new(); classes];
    for (row, &label) in labels.iter().enumerate() {
        let name = &mut names[usize::from(label)];
        if name.is_empty() {
            *name = table.cell(row, target).to_owned();
        }
    }
    let part = |rows: &[usize]| part(&inputs, rows, &labels);
    let [train, validation, test] = [part(&parts[0])?, part(&parts[1])?, part(&parts[2])?];
    let content = [&train, &validation, &test].map(|part| {
        let numbers = part.table().iter().flat_map(|number| number.to_le_bytes());
        (part.len() as u64)
            .to_le_bytes()
            .into_iter()
            .chain(numbers)
            .chain(part.labels().iter().copied())
            .collect::<Vec<u8>>()
    });
    let source = DataSource::new(&name_of(path), Some(path.to_path_buf()), false, content);
    let reader = Some(WindowReader::Row(reader));
    Ok(WindowSet { train, validation, test, classes, source, names, reader })
}

/// What the columns of a table are for, and the rows of its parts.
struct Layout {
    target: usize,
    /// Columns that are no inputs.
    left_out: Vec<usize>,
    labels: Vec<u8>,
    parts: [Vec<usize>; 3],
}

fn layout(asked: &Asked, table: &Table<'_>) -> Result<Layout> {
    let path = table.path;
    let Some(target) = &asked.target else {
        return Err(Error::Usage(format!(
            "which column of {} is the class? `target = COLUMN` says it (--target COLUMN of `gelu data info`); \
             there are: {}",
            path.display(),
            table.names()
        )));
    };
    let target = table.column(target)?;
    let split = asked.split.as_deref().map(|name| table.column(name)).transpose()?;
    let mut left_out = vec![target];
    left_out.extend(split);
    for name in &asked.ignore {
        left_out.push(table.column(name)?);
    }
    let labels = table.labels(target)?;
    let parts = match split {
        Some(column) => table.parts(column)?,
        None => by_class(&labels),
    };
    if let Some(empty) = parts.iter().position(Vec::is_empty) {
        let problem =
            format!("there is no row to {}", ["train on", "choose by", "report on"][empty]);
        let advice = "each part needs one: add rows, or a column that says train, valid or test";
        return Err(Error::data(path, Place::File, problem, advice));
    }
    let trained = rows_of_classes(&labels, parts[0].iter().copied());
    if let Some(row) = (0..labels.len()).find(|&row| !trained.contains_key(&labels[row])) {
        return table.refuse(row, target, "no row of that class is trained on");
    }
    Ok(Layout { target, left_out, labels, parts })
}

/// Some rows, each an example by itself.
fn part(inputs: &Inputs, rows: &[usize], labels: &[u8]) -> Result<Windows> {
    let numbers =
        rows.iter().flat_map(|&row| &inputs.numbers[row * inputs.width..][..inputs.width]);
    let mut windows = Windows::new(numbers.copied().collect(), inputs.width, 1)?;
    for (index, &row) in (0..).zip(rows) {
        windows.push_group(&[index], &[labels[row]]);
    }
    Ok(windows)
}

/// How many of some rows each class has.
fn rows_of_classes(labels: &[u8], rows: impl Iterator<Item = usize>) -> BTreeMap<u8, usize> {
    let mut counts = BTreeMap::new();
    rows.for_each(|row| *counts.entry(labels[row]).or_default() += 1);
    counts
}

/// All rows in parts, of which each has its share of every class, to a row. Their order is mixed, and always
/// the same.
fn by_class(labels: &[u8]) -> [Vec<usize>; 3] {
    let mut mixed: Vec<usize> = (0..labels.len()).collect();
    mixed.shuffle(&mut ChaCha8Rng::seed_from_u64(ORDER_SEED));
    let mut by_class = mixed.clone();
    by_class.sort_by_key(|&row| labels[row]);
    let mut part_of = vec![0; labels.len()];
    for (place, row) in by_class.into_iter().enumerate() {
        part_of[row] = match place % SHARES {
            CHOOSING => 1,
            REPORTED => 2,
            _ => 0,
        };
    }
    let mut parts = [const { Vec::new() }; 3];
    mixed.into_iter().for_each(|row| parts[part_of[row]].push(row));
    parts
}

/// Inputs of all rows, `[rows, width]`.
struct Inputs {
    numbers: Vec<f32>,
    width: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(target: &str) -> Asked {
        Asked { target: Some(target.to_owned()), ..Asked::from("csv") }
    }

    fn of(asked: &Asked, text: &str) -> Result<WindowSet> {
        parse(asked, Path::new("t.csv"), text.as_bytes())
    }

    fn refused(asked: &Asked, text: &str) -> String {
        of(asked, text).unwrap_err().to_string()
    }

    #[test]
    fn columns_are_scaled_by_the_rows_that_are_trained_on() {
        let text = "id,part,size,colour,kind\n\
            1,train,1,red,10\n2,train,3,blue,9\n3,valid,5,red,9\n4,test,-1,blue,10\n";
        let asked =
            Asked { split: Some("part".into()), ignore: vec!["id".into()], ..asked("kind") };
        let set = of(&asked, text).unwrap();
        assert_eq!((set.classes, set.train.features()), (2, 3));
        // Size, then blue, then red; 9 comes before 10.
        assert_eq!(set.train.inputs(0..2), [-1.0, 0.0, 1.0, 1.0, 1.0, 0.0]);
        assert_eq!(set.train.labels(), [1, 0]);
        assert_eq!(
            (set.validation.inputs(0..1), set.validation.labels()),
            (vec![3.0, 0.0, 1.0], &[0][..])
        );
        assert_eq!((set.test.inputs(0..1), set.test.labels()), (vec![-3.0, 1.0, 0.0], &[1][..]));
        assert_eq!(set.source.name, "t.csv");
        let other = of(&asked, &text.replace("-1,blue", "-2,blue")).unwrap();
        assert_ne!(other.source.fingerprint, set.source.fingerprint);
    }

    #[test]
    fn without_a_column_for_it_eight_tenths_are_trained_on() {
        let rows: String = (0..50).map(|i| format!("{i},{}\n", ["b", "a"][i % 2])).collect();
        let set = of(&asked("c"), &format!("x,c\n{rows}")).unwrap();
        let parts = [&set.train, &set.validation, &set.test];
        assert_eq!(parts.map(Windows::len), [40, 5, 5]);
        assert!(!set.train.inputs(0..40).is_sorted(), "rows are mixed");
        for part in parts {
            let a = part.labels().iter().filter(|&&label| label == 0).count();
            assert!(a.abs_diff(part.len() - a) <= 1, "{a} of {}", part.len());
        }
        let mean = set.train.inputs(0..40).iter().sum::<f32>() / 40.0;
        assert!(mean.abs() < 1e-6, "{mean}");
    }

    /// Of 97, 20 and 3 rows, a tenth each, and what is over or missing is one row.
    #[test]
    fn each_part_has_its_share_of_every_class() {
        let sizes = [97, 20, 3];
        let labels: Vec<u8> = (0..).zip(sizes).flat_map(|(c, n)| vec![c; n]).collect();
        let parts = by_class(&labels);
        let mut all = parts.concat();
        all.sort_unstable();
        assert_eq!(all, (0..120).collect::<Vec<_>>());
        assert_eq!(parts.each_ref().map(Vec::len), [96, 12, 12]);
        for part in &parts[1..] {
            let of = rows_of_classes(&labels, part.iter().copied());
            for (class, size) in (0..).zip(sizes) {
                let rows = of.get(&class).copied().unwrap_or(0) as f64;
                assert!((rows - size as f64 / 10.0).abs() < 1.0, "{class}: {rows}");
            }
        }
        let small = by_class(&[0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
        let trained = rows_of_classes(&[0, 0, 1, 1, 2, 2, 3, 3, 4, 4], small[0].iter().copied());
        assert_eq!(trained.len(), 5, "a class of two rows has one to train on");
    }

    #[test]
    fn a_quantity_is_no_class() {
        let rows = |value: &dyn Fn(usize) -> String| -> String {
            (0..40).map(|i| format!("{},{}\n", i * i, value(i))).collect()
        };
        let said = |value: &dyn Fn(usize) -> String| {
            refused(&asked("c"), &format!("x,c\n{}", rows(value)))
        };
        let fraction = said(&|i| format!("{}.5", i % 4));
        assert!(fraction.contains("line 2: column `c` is `0.5`: that is a quantity"), "{fraction}");
        let prices = said(&|i| format!("{}", 1000 + i));
        assert!(
            prices.contains("that is the class of one row, as 40 of 40 classes are"),
            "{prices}"
        );
        let one =
            said(&|i| if i == 7 { "rare".into() } else { "abc"[i % 3..i % 3 + 1].to_owned() });
        assert!(
            one.contains("line 9: column `c` is `rare`: that is the class of one row"),
            "{one}"
        );
        // Whole numbers are classes however they are written, in their order.
        let set = of(&asked("c"), &format!("x,c\n{}", rows(&|i| format!("{}.0", 9 + i % 2))));
        assert_eq!(set.unwrap().classes, 2);
        let split = Asked { split: Some("p".into()), ..asked("c") };
        let text =
            "x,p,c\n1,train,a\n2,train,b\n3,valid,a\n4,test,z\n5,test,z\n6,train,a\n7,train,b\n";
        let said = refused(&split, text);
        assert!(
            said.contains("line 5: column `c` is `z`: no row of that class is trained on"),
            "{said}"
        );
    }

    #[test]
    fn columns_are_read_as_they_are_said_to_be_or_refused() {
        let of_x = |value: &dyn Fn(usize) -> String| {
            let rows = (0..40).map(|i| format!("{},{},{}\n", value(i), i * i, ["a", "b"][i % 2]));
            refused(&asked("c"), &format!("x,y,c\n{}", rows.collect::<String>()))
        };
        assert!(
            of_x(&|i| format!("{i}%")).contains("column `x` is `0%`: it looks like a percentage")
        );
        assert!(of_x(&|i| format!("\"{},000\"", 1 + i)).contains("groups of digits"));
        assert!(of_x(&|i| format!("2024-01-{:02}", 1 + i % 28)).contains("a date"));
        assert!(of_x(&|i| format!("r{i}")).contains("every row has another text"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let rows = (1..=20).map(|i| {
            format!(
                "{i},{},{},{}%,x,{}\n",
                0.5 * f64::from(i * i),
                ["red", "blue"][i as usize % 2],
                i,
                i % 2
            )
        });
        std::fs::write(&path, format!("id,size,colour,share,note,c\n{}", rows.collect::<String>()))
            .unwrap();
        let asked = Asked { ignore: vec!["note".into()], ..asked("c") };
        let lines = columns(&asked, &path).unwrap();
        assert_eq!(
            lines[0],
            "`id`: a number, 1 to 20; it counts the rows, so ignore it unless that means something"
        );
        assert_eq!(lines[1], "`size`: a number, 0.5 to 200");
        assert_eq!(lines[2], "`colour`: 2 texts, an input each: `blue`, `red`");
        assert!(
            lines[3].starts_with("`share`: cannot be read: ") && lines[3].contains("a percentage")
        );
        assert_eq!(lines[4..], ["`note`: left out", "`c`: the class, 2 classes of 10 rows"]);
    }

    #[test]
    fn other_separators_and_files_are_called_by_their_names() {
        for (separator, name) in [(";", "semicolons"), ("\t", "tabs")] {
            let text = "x,c\n1,a\n2,b\n".replace(',', separator);
            let said = refused(&asked("c"), &text);
            assert!(
                said.contains(&format!("line 1: the columns are separated by {name}")),
                "{said}"
            );
        }
        let parse =
            |bytes: &[u8]| parse(&asked("c"), Path::new("t"), bytes).unwrap_err().to_string();
        for (bytes, what) in [
            (&b"PAR1\x15\x04\xff\xfe"[..], "is a Parquet file"),
            (&b"PK\x03\x04\xff\xfe"[..], "is a ZIP archive"),
            (&b"\x93NUMPY\x01\x00"[..], "is a NumPy array"),
            (&b"\xff\xfex\x00,\x00c\x00"[..], "is a text in UTF-16"),
        ] {
            let said = parse(bytes);
            assert!(said.contains(what) && !said.contains("not UTF-8"), "{said}");
        }
    }

    #[test]
    fn extreme_and_constant_columns_stay_finite() {
        let text = "x,y,z,c\n1e308,5,0,a\n-1e308,5,0,b\n1e308,5,0,a\n".to_owned()
            + &"0,5,0,b\n".repeat(20);
        let set = of(&asked("c"), &text).unwrap();
        assert!(set.train.table().iter().all(|number| number.is_finite()));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line_and_column() {
        let rows = "1,a\n2,b\n".repeat(10);
        let text = format!("x,c\n{rows}");
        let bad = |row: &str| refused(&asked("c"), &format!("{text}{row}\n"));
        assert!(
            bad("1").contains("line 22: 1 cells, where the first line names 2 columns"),
            "{}",
            bad("1")
        );
        assert!(
            bad("one,a").contains("line 22: column `x` is `one`: it is no finite number"),
            "{}",
            bad("one,a")
        );
        assert!(bad("NaN,a").contains("column `x` is `NaN`"), "{}", bad("NaN,a"));
        assert!(
            bad(",a").contains("line 22: column `x` is ``: nothing is guessed"),
            "{}",
            bad(",a")
        );
        assert!(bad("3,").contains("column `c` is ``: the class is missing"), "{}", bad("3,"));
        let unknown = refused(&asked("kind"), &text);
        assert!(
            unknown.contains("no column is called `kind`")
                && unknown.contains("there are: `x`, `c`"),
            "{unknown}"
        );
        assert!(refused(&Asked::from("csv"), &text).contains("`target = COLUMN`"));
        assert!(refused(&asked("c"), "x,c\n").contains("no row follows"));
        assert!(refused(&asked("c"), "x,x\n1,2\n").contains("two columns are called `x`"));
        assert!(refused(&asked("c"), "c\na\nb\na\nb\n").contains("there is no row to choose by"));
        assert!(
            refused(&asked("c"), &format!("c\n{}", "a\nb\n".repeat(9)))
                .contains("no column is left")
        );
        assert!(
            refused(&asked("c"), &text.replace('b', "a")).contains("all examples are of one class")
        );
        let prices: String = (0..600).map(|i| format!("{i},{i}\n")).collect();
        assert!(refused(&asked("c"), &format!("x,c\n{prices}")).contains("there are 600 classes"));
        let names: String = (0..600).map(|i| format!("n{i},{}\n", i % 2)).collect();
        assert!(
            refused(&asked("c"), &format!("x,c\n{names}")).contains("one of 600 different texts")
        );
        let split = Asked { split: Some("x".into()), ..asked("c") };
        assert!(refused(&split, &text).contains("it has to be train, valid or test"));
        assert!(refused(&asked("c"), &format!("{text}a\u{1b}[2J,a\n")).contains("`a\\u{1b}[2J`"));
    }
}
