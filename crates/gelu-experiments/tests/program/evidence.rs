//! Checks that the saved runs in `evidence/` still give the tables and verdicts next to them, and that README and
//! book quote these.

use crate::support::Sandbox;
use gelu_compare::comparison::AnyReader;
use gelu_compare::pack;
use gelu_compare::runs::{RunFolder, Spec};
use gelu_compare::testing::assert_generated;
use gelu_experiments::recipe::Recipe;
use gelu_experiments::runs::RunSpec;
use std::fs;
use std::path::{Path, PathBuf};

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Returns the files in `evidence/` with this ending.
fn kept(end: &str) -> Vec<PathBuf> {
    let evidence = root().join("evidence");
    let ends = |path: &PathBuf| path.extension().is_some_and(|extension| extension == end);
    let files: Vec<PathBuf> = entries(&evidence).into_iter().filter(ends).collect();
    assert!(!files.is_empty(), "{} holds no .{end}", evidence.display());
    files
}

fn name(file: &Path) -> &str {
    file.file_stem().unwrap().to_str().unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_runs_that_are_kept_give_the_tables_beside_them() {
    for comparison in kept("zip") {
        let sandbox = Sandbox::new();
        fs::copy(&comparison, sandbox.path("it.zip")).unwrap();
        sandbox.run(&["unpack", "it.zip"]).success();
        sandbox.run(&["report", "it"]).success();
        let again = fs::read_to_string(sandbox.path("it/table.md")).unwrap();
        let table = fs::read_to_string(comparison.with_extension("md")).unwrap();
        assert_eq!(again, table, "{}", comparison.display());
    }
}

/// The flags that judge a comparison's scores, and the heading of a verdict in its table.
struct Judging {
    of: &'static [&'static str],
    place: fn(&serde_json::Value) -> String,
}

impl Judging {
    fn of(comparison: &Path) -> Self {
        match name(comparison) {
            "symbolic-newer" | "symbolic-oscillating" => Self {
                of: &[
                    "--compare=activation",
                    "--each=formula",
                    "--metric=test_rmse",
                    "--negligible=0.002",
                ],
                place: |each| {
                    let formula = each["formula"].as_str().unwrap();
                    format!("Formula {}", formula.split('=').next().unwrap())
                },
            },
            "initialisation" => Self {
                of: &["--compare=initialisation", "--each=activation", "--metric=test_error"],
                place: |each| {
                    format!("Activation {}, rate 0.001", each["activation"].as_str().unwrap())
                },
            },
            other => panic!("how are the scores of evidence/{other} judged?"),
        }
    }
}

/// If only scores are saved, without their runs, they give the verdicts of the table.
#[test]
fn the_scores_that_are_kept_give_the_verdicts_beside_them() {
    for comparison in kept("csv") {
        let sandbox = Sandbox::new();
        fs::copy(&comparison, sandbox.path("runs.csv")).unwrap();
        let judging = Judging::of(&comparison);
        let judge = [&["verdict", "runs.csv", "--json"], judging.of].concat();
        let judged = sandbox.run(&judge).success();
        let judged: serde_json::Value = serde_json::from_str(&judged).unwrap();
        let table = fs::read_to_string(comparison.with_extension("md")).unwrap();
        let differences = judged["differences"].as_array().unwrap();
        assert!(!differences.is_empty());
        for difference in differences {
            let sentence = difference["sentence"].as_str().unwrap();
            // The table shows other digits, and intervals over new examples, which scores do not have.
            let ends = [" by ", " within ", " cannot be told"].into_iter();
            let end = ends.filter_map(|end| sentence.find(end)).min().unwrap();
            let said = format!("- {}: {}", (judging.place)(&difference["each"]), &sentence[..end]);
            let mut there = table.lines().filter(|line| line.starts_with(&said));
            let line = there.next().unwrap_or_else(|| panic!("{said}: {}", comparison.display()));
            if let Some((_, p)) = sentence.split_once("p = ") {
                let p = p.split([';', ')']).next().unwrap();
                assert!(line.contains(&format!("p = {p}")), "{said}: {line}");
            }
        }
    }
}

/// The digests in the names must stay those of older versions of the program.
#[test]
fn every_run_that_is_kept_still_has_its_name() {
    let mut found = 0;
    for comparison in kept("zip") {
        let opened = pack::open(&comparison).unwrap();
        for run in entries(&opened.path().join("runs")) {
            let spec: RunSpec = RunFolder::at(&run).spec_of_any_version().unwrap();
            assert_eq!(run.file_name().unwrap().to_str().unwrap(), spec.folder_name());
            found += 1;
        }
    }
    assert!(found > 700, "{found} runs");
}

/// Returns the page of the book that names a file of `evidence/`, as a link from the folder of all pages.
fn page_of(name: &str) -> String {
    let of_folder = |folder: &str| {
        let pages = entries(&root().join("docs/src").join(folder)).into_iter();
        let names = |page: &PathBuf| {
            fs::read_to_string(page).unwrap().contains(&format!("evidence/{name}.zip"))
        };
        let link = |page: PathBuf| format!("{folder}/{}", page.file_name().unwrap().display());
        pages.filter(names).map(link).next()
    };
    let page = of_folder("results").or_else(|| of_folder("explanation"));
    page.unwrap_or_else(|| panic!("no page names evidence/{name}.zip"))
}

/// Returns the table of all saved comparisons, one row per verdict.
fn all_verdicts() -> String {
    let mut table =
        "| experiment | at | setting | next to | verdict | of |\n|---|---|---|---|---|---|\n"
            .to_owned();
    for comparison in kept("zip") {
        let opened = pack::open(&comparison).unwrap();
        let mut reader = AnyReader::<Recipe>::open(opened.path()).unwrap();
        let snapshot = reader.snapshot();
        let Some(forest) = gelu_compare::report::forest(&snapshot) else { continue };
        let (name, baseline) = (name(&comparison), snapshot.label(&snapshot.criterion.baseline));
        let wording = snapshot.wording();
        let unit = match wording.unit().trim() {
            "" => String::new(),
            unit => format!(" in {unit}"),
        };
        for panel in &forest.panels {
            for row in &panel.rows {
                table += &format!(
                    "| [{name}]({}) | {} | {} | {baseline} | {} | {}{unit} |\n",
                    page_of(name),
                    panel.title,
                    row.label,
                    row.words,
                    wording.metric(),
                );
            }
        }
    }
    table
}

#[test]
fn the_book_has_the_verdict_of_every_comparison_that_is_kept() {
    assert_generated(&root().join("docs/src/results.md"), "results", &all_verdicts());
}

/// A packed comparison is judged like the table of scores in it.
#[test]
fn a_packed_comparison_is_judged_without_unpacking_it() {
    let file = root().join("evidence/char-gpt.zip");
    let judged = Sandbox::new()
        .run(&["verdict", file.to_str().unwrap(), "--compare=activation", "--metric=test_loss"])
        .success();
    let table = fs::read_to_string(file.with_extension("md")).unwrap();
    let p = |text: &str| Some(text.split_once("p = ")?.1.split([';', ')']).next()?.to_owned());
    assert!(p(&judged).is_some() && p(&judged) == p(&table), "{judged}\n{table}");
}

/// Returns whether the program that trained this run had uncommitted changes.
#[cfg(unix)]
fn has_uncommitted_changes(run: &Path) -> bool {
    entries(run).iter().any(|file| {
        file.file_name().unwrap().to_string_lossy().starts_with("provenance-") && {
            let text = fs::read_to_string(file).unwrap();
            let session: serde_json::Value = serde_json::from_str(&text).unwrap();
            session["commit"].as_str().is_some_and(|commit| commit.ends_with('+'))
        }
    })
}

/// `.ci/full numbers` names these runs, even if their data are not there.
#[cfg(unix)]
#[test]
fn runs_of_programs_with_uncommitted_changes_are_named() {
    let mut numbers = std::process::Command::new(root().join(".ci/full"));
    let output = numbers.arg("numbers").env_remove("GELU_DATA").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    let mut named = 0;
    for comparison in kept("zip") {
        let opened = pack::open(&comparison).unwrap();
        let runs = entries(&opened.path().join("runs"));
        let some = runs.iter().filter(|run| has_uncommitted_changes(run)).count();
        let start = format!("evidence/{}: ", name(&comparison));
        let line = said.lines().find_map(|line| line.strip_prefix(&start));
        match some {
            0 => assert_eq!(line, None),
            _ => {
                let expected = format!("{some} of {} runs", runs.len());
                assert!(
                    line.is_some_and(|line| line.starts_with(&expected)),
                    "{start}{some}: {said}"
                );
                named += 1;
            }
        }
    }
    assert_eq!(said.matches("uncommitted changes").count(), named);
}

/// Returns the text with each run of white space replaced by one space.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the quoted paragraphs of a Markdown text, each with the name after the last `gelu compare` or `evidence/`
/// before it.
fn quotes(markdown: &str) -> Vec<(String, String)> {
    let mut experiment = String::new();
    let mut quotes = Vec::new();
    for paragraph in markdown.replace("\n>\n", "\n\n").split("\n\n") {
        if let Some(quote) = paragraph.trim_start().strip_prefix('>') {
            quotes.push((experiment.clone(), unwrapped(&quote.replace("\n>", "\n"))));
            continue;
        }
        let text = unwrapped(paragraph);
        let marks = ["gelu compare ", "evidence/"].into_iter();
        let last = marks.filter_map(|mark| Some(text.rfind(mark)? + mark.len())).max();
        if let Some(start) = last {
            let is_part = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
            experiment = text[start..].chars().take_while(is_part).collect();
        }
    }
    quotes
}

#[test]
fn verdicts_are_quoted_as_the_tables_that_are_kept_have_them() {
    let mut found = 0;
    let mut texts = vec![root().join("README.md")];
    for folder in ["docs/src", "docs/src/explanation", "docs/src/results"] {
        let pages = entries(&root().join(folder)).into_iter();
        texts.extend(pages.filter(|page| page.extension().is_some_and(|end| end == "md")));
    }
    for text in texts {
        let markdown = fs::read_to_string(&text).unwrap();
        let text = text.display();
        for (experiment, quote) in quotes(&markdown) {
            let table = root().join("evidence").join(format!("{experiment}.md"));
            if let Ok(table) = fs::read_to_string(table) {
                // The lines below the verdicts describe the power of the test.
                assert!(!quote.contains("80% of the time"), "{text}: no verdict is `{quote}`");
                let kept = unwrapped(&table).contains(&quote);
                assert!(kept, "{text}: evidence/{experiment}.md does not say `{quote}`");
                found += 1;
            }
        }
    }
    assert!(found >= 8, "{found} verdicts of experiments whose tables are kept");
}
