//! Tests of `gelu-compare verdict` with tables of scores.

use gelu_compare::comparison::Verdict;
use gelu_compare::measure::Direction;
use gelu_compare::scores::ScoresDocument;
use gelu_compare::testing::Sandbox;
use std::fmt::Write;
use std::fs;

/// Returns accuracies of three arms with ten seeds. `relu` is about 2 points behind; `silu` equals `gelu`.
fn scores() -> String {
    let mut text = "activation,seed,accuracy\n".to_owned();
    for seed in 0..10 {
        let noise = 0.0005 * ((seed * 3) % 7) as f64;
        for (arm, accuracy) in [("gelu", 0.95), ("relu", 0.93 + 0.5 * noise), ("silu", 0.95)] {
            writeln!(text, "{arm},{seed},{:.5}", accuracy + noise).unwrap();
        }
    }
    text
}

const JUDGE: [&str; 7] =
    ["verdict", "scores.csv", "--compare", "activation", "--metric", "accuracy", "--higher"];

fn with(more: &[&'static str]) -> Vec<&'static str> {
    [&JUDGE, more].concat()
}

#[test]
fn a_table_gets_its_verdicts_in_words_in_json_and_as_a_picture() {
    let sandbox = crate::program();
    fs::write(sandbox.path("scores.csv"), scores()).unwrap();
    let margin = ["--negligible", "0.001", "--forest", "forest.svg"];
    let text = sandbox.run(&with(&margin)).success().replace("\n  ", " ");
    assert!(text.contains("gelu beats relu by 0.01925 of accuracy (97.5% interval "), "{text}");
    // The two have the same scores.
    assert!(
        text.contains("silu and gelu cannot be told apart: they have the same score"),
        "{text}"
    );
    assert!(text.contains("right: better") && text.contains('●'), "{text}");
    assert!(fs::read_to_string(sandbox.path("forest.svg")).unwrap().contains("accuracy"));
    let text = sandbox.run(&with(&["--negligible", "0.001", "--json"])).success();
    let document: ScoresDocument = serde_json::from_str(&text).unwrap();
    let names = [&document.file, &document.compare, &document.metric].map(String::as_str);
    assert_eq!(names, ["scores.csv", "activation", "accuracy"]);
    assert_eq!((document.better, document.negligible), (Direction::Higher, 0.001));
    let [relu, silu] = &document.differences[..] else { panic!("{text}") };
    assert_eq!((relu.finding.verdict, silu.finding.verdict), (Verdict::Worse, Verdict::Undecided));
    // The difference has the metric's own direction: relu − gelu.
    let mean = relu.finding.mean.unwrap();
    assert!((mean + 0.01925).abs() < 1e-9, "{mean}");
    let interval = relu.finding.interval.unwrap();
    let [low, high] = interval.ends();
    assert!(low < mean && mean < high && high < 0.0, "{interval:?}");
    // 2 of 2^10 sign patterns, for two comparisons.
    assert_eq!(relu.finding.p, Some(4.0 / 1024.0));
}

#[test]
fn standard_input_and_another_baseline_are_taken() {
    let sandbox = crate::program();
    fs::write(sandbox.path("scores.tsv"), scores().replace(',', "\t")).unwrap();
    let mut words = with(&["--baseline", "relu"]);
    words[1] = "scores.tsv";
    let text = sandbox.run(&words).success();
    assert!(text.contains("gelu beats relu by") && text.contains("silu beats relu by"), "{text}");
}

#[test]
fn a_table_that_cannot_be_judged_is_refused_with_its_line() {
    let sandbox = crate::program();
    let judge = |table: &str, more: &[&'static str], code: i32, expected: &str| {
        fs::write(sandbox.path("scores.csv"), table).unwrap();
        sandbox.run(&with(more)).refused(code, expected);
    };
    let table = scores();
    judge(&table.replace("relu,3,", "relu,2,"), &[], 1, "stands in line");
    judge(&table.replace("relu,3,", "relu,x,"), &[], 1, "line 12: the seed is `x`");
    judge(&table.replace("accuracy\n", "score\n"), &[], 1, "no column `accuracy`");
    let gone: String = table
        .lines()
        .filter(|line| !line.starts_with("relu,3,"))
        .map(|l| format!("{l}\n"))
        .collect();
    judge(&gone, &[], 1, "`gelu` has seed 3, and `relu` has not");
    judge(&table, &["--baseline", "tanh"], 1, "the baseline `tanh` is not there");
    judge(&table, &["--negligible=-1"], 2, "--negligible");
    judge(&table, &["--forest", "picture.gif"], 2, ".svg or .png");
    judge("", &[], 1, "line 1: the file is empty");
    fs::remove_file(sandbox.path("scores.csv")).unwrap();
    sandbox.run(&JUDGE).refused(1, "scores.csv");
}

/// Returns ten errors of two settings. `b` is ahead of `a` by about 0.02 at every seed.
fn errors(separator: &str) -> Vec<String> {
    let row = |seed: i32| {
        let base = 0.3 + 0.003 * f64::from(seed * 7 % 10);
        let ahead = 0.02 + 0.001 * f64::from(seed * 3 % 7);
        [
            format!("a{separator}{seed}{separator}{base:.4}"),
            format!("b{separator}{seed}{separator}{:.4}", base - ahead),
        ]
    };
    (1..=10).flat_map(row).collect()
}

fn judged(sandbox: &Sandbox, words: &[&str]) -> ScoresDocument {
    serde_json::from_str(&sandbox.run(&[words, &["--json"]].concat()).success()).unwrap()
}

const ERRORS: [&str; 6] = ["verdict", "scores.csv", "--compare", "arm", "--metric", "err"];

#[test]
fn runs_without_pairs_are_compared_by_permutation() {
    let sandbox = crate::program();
    // The table has no seeds, and different numbers of runs.
    let rows: String = (0..9).map(|k| format!("a,{}\nb,{}\n", 10 + k, 20 + k)).collect();
    fs::write(sandbox.path("scores.csv"), format!("arm,err\n{rows}b,29\n")).unwrap();
    let words = [&ERRORS[..], &["--unpaired"]].concat();
    let finding = judged(&sandbox, &words).differences.remove(0).finding;
    // No other assignment of the 19 scores has as large a difference.
    assert_eq!((finding.verdict, finding.unpaired_runs), (Verdict::Worse, Some([10, 9])));
    let assignments = 92_378.0;
    assert!((finding.p.unwrap() - 1.0 / assignments).abs() < 1e-12, "{finding:?}");
    let text = sandbox.run(&words).success().replace("\n  ", " ");
    assert!(text.contains("a beats b by 10.5 of err (95% interval "), "{text}");
    assert!(text.contains("; 10 and 9 runs; p < 0.0001)") && !text.contains("pairs"), "{text}");
    fs::write(sandbox.path("scores.csv"), "arm,err\na,1\na,2\nb,1\nb,2\nb,3\n").unwrap();
    sandbox.run(&words).refused(1, "need 8 of each, or equal numbers");
}

#[test]
fn a_number_takes_the_place_of_the_baseline() {
    let sandbox = crate::program();
    fs::write(sandbox.path("scores.csv"), format!("arm,seed,err\n{}", errors(",").join("\n")))
        .unwrap();
    let words = [&ERRORS[..], &["--target", "0.2999"]].concat();
    let document = judged(&sandbox, &words);
    let verdicts: Vec<Verdict> = document.differences.iter().map(|d| d.finding.verdict).collect();
    assert_eq!(verdicts, [Verdict::Worse, Verdict::Better]);
    let text = sandbox.run(&words).success().replace("\n  ", " ");
    assert!(text.contains("the target 0.2999 beats a by 0.0136"), "{text}");
    sandbox.run(&[&words[..], &["--baseline", "a"]].concat()).refused(2, "cannot be used with");
}

#[test]
fn another_metric_must_not_get_worse() {
    let sandbox = crate::program();
    let with_seconds = |slower: f64| -> String {
        let row = |(index, row): (usize, String)| {
            let more = if row.starts_with('b') { slower } else { 0.0 };
            format!("{row},{:.3}\n", 10.0 + 0.01 * (index % 7) as f64 + more)
        };
        errors(",").into_iter().enumerate().map(row).collect()
    };
    let words = [&ERRORS[..], &["--no-worse", "seconds=1"]].concat();
    for (slower, verdict, said) in [
        (0.5, Verdict::Better, ", and is at most 1 worse in seconds"),
        (2.0, Verdict::Undecided, "b beats a in err, but may be worse in seconds by more than 1"),
    ] {
        let text = format!("arm,seed,err,seconds\n{}", with_seconds(slower));
        fs::write(sandbox.path("scores.csv"), text).unwrap();
        let finding = judged(&sandbox, &words).differences.remove(0).finding;
        assert_eq!(finding.verdict, verdict, "{finding:?}");
        assert!(finding.sentence.contains(said), "{}", finding.sentence);
    }
}

#[test]
fn wide_tables_other_seeds_and_chosen_lines_are_read() {
    let sandbox = crate::program();
    fs::write(sandbox.path("scores.csv"), format!("arm,seed,err\n{}", errors(",").join("\n")))
        .unwrap();
    let long = judged(&sandbox, &ERRORS).differences.remove(0).finding;
    let all = errors(",");
    let wide = all.chunks(2).map(|two| {
        let of = |row: &str| row.rsplit(',').next().unwrap().to_owned();
        format!("{},{}\n", of(&two[0]), of(&two[1]))
    });
    let wide = format!("a,b\n{}", wide.collect::<String>());
    fs::write(sandbox.path("wide.csv"), wide).unwrap();
    let words = ["verdict", "wide.csv", "--wide", "a,b", "--metric", "err"];
    assert_eq!(judged(&sandbox, &words).differences[0].finding, long);
    // The format of MLflow's export, with a run that crashed and a second group of runs.
    let runs =
        errors(",").into_iter().map(|row| format!("{row},FINISHED,x\na,99,0.1,FINISHED,y\n"));
    let text = format!(
        "Arm,params.seed,metrics.err,status,group\n{}b,11,,RUNNING,x\n",
        runs.collect::<String>()
    );
    fs::write(sandbox.path("runs.csv"), text).unwrap();
    let words = [
        "verdict",
        "runs.csv",
        "--compare",
        "arm",
        "--metric",
        "metrics.err",
        "--seed",
        "params.seed",
        "--only",
        "group=x",
    ];
    let found = judged(&sandbox, &words);
    assert_eq!((found.left_out, found.differences[0].finding.p), (1, long.p));
    let said = sandbox.run(&words).success().replace("\n  ", " ");
    assert!(said.contains("1 line was left out, because its run has not finished."), "{said}");
}

#[test]
fn a_stricter_level_and_planned_seeds_change_what_is_decided() {
    let sandbox = crate::program();
    fs::write(sandbox.path("scores.csv"), format!("arm,seed,err\n{}", errors(",").join("\n")))
        .unwrap();
    let verdict = |more: &[&str]| {
        judged(&sandbox, &[&ERRORS[..], more].concat()).differences.remove(0).finding
    };
    let plain = verdict(&[]);
    assert_eq!((plain.verdict, plain.p), (Verdict::Better, Some(2.0 / 1024.0)));
    assert_eq!(verdict(&["--level", "0.001"]).verdict, Verdict::Undecided);
    let waiting = verdict(&["--planned", "12"]);
    assert_eq!((waiting.verdict, waiting.p), (Verdict::Undecided, None));
    let beyond = verdict(&["--planned", "8"]);
    assert!(beyond.verdict == Verdict::Better && beyond.alpha_spent > 0.05, "{beyond:?}");
    sandbox.run(&[&ERRORS[..], &["--level", "5"]].concat()).refused(2, "between 0 and 1");
}

#[test]
fn tasks_are_judged_together_and_shown_apart() {
    let sandbox = crate::program();
    let mut text = "task,arm,seed,err\n".to_owned();
    for task in 0..7 {
        for row in errors(",").into_iter().take(12) {
            let scale = f64::from(1 + task);
            let (head, value) = row.rsplit_once(',').unwrap();
            writeln!(text, "t{task},{head},{}", scale * value.parse::<f64>().unwrap()).unwrap();
        }
    }
    fs::write(sandbox.path("scores.csv"), text).unwrap();
    let words = [&ERRORS[..], &["--over", "task", "--scale", "ratio"]].concat();
    let difference = judged(&sandbox, &words).differences.remove(0);
    let over = difference.finding.over.unwrap();
    assert_eq!((difference.finding.p, over.ahead, over.tasks.len()), (Some(2.0 / 128.0), 7, 7));
    assert!(over.tasks[6].mean.unwrap() < 6.9 * over.tasks[0].mean.unwrap());
    let said = sandbox.run(&words).success().replace("\n  ", " ");
    assert!(said.contains("of err on average (95% interval "), "{said}");
    assert!(said.contains("b is ahead in 7 of 7 tasks") && said.contains("t3: −0.0"), "{said}");
    sandbox.run(&[&ERRORS[..], &["--over", "task"]].concat()).refused(2, "--scale");
}

/// Returns the first block of a language in the README.
fn block(language: &str) -> String {
    let readme = include_str!("../../README.md");
    let (_, rest) = readme.split_once(&format!("```{language}\n")).unwrap();
    rest.split("```").next().unwrap().to_owned()
}

#[test]
fn the_readmes_quick_start_prints_what_stands_there() {
    let sandbox = crate::program();
    fs::write(sandbox.path("scores.csv"), block("csv")).unwrap();
    let mut lines = include_str!("../../README.md").lines();
    let command = lines.find(|line| line.starts_with("gelu-compare verdict ")).unwrap();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    assert_eq!(sandbox.run(&words).success(), block("text"));
}
