//! Sessions: many judgements one after the other, with the real program.

use gelu_compare::comparison::statistics::session::{Judgement, judge, schedule};
use gelu_compare::testing::Outcome;
use gelu_compare::testing::{Sandbox, kill, wait};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use toml::Table;

/// A program that prints a loss, which depends on its two numbers and on the seed.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Program {
    base: u64,
    kind: u64,
}

impl Program {
    fn loss(self, seed: u64) -> f64 {
        let noise = (seed * 7919 + self.kind * 104_729 + seed * seed * self.kind * 31) % 1000;
        (self.base + noise) as f64
    }

    fn text(self, before: &str) -> String {
        let Self { base, kind } = self;
        format!(
            "#!/bin/sh\necho $0 $1 >> starts\n{before}\necho \"{{\\\"loss\\\": $(( {base} + ($1 * 7919 + {kind} * 104729 + $1 * $1 * \
             {kind} * 31) % 1000 ))}}\"\n"
        )
    }
}

/// A folder with an incumbent and with changes.
struct Game(Sandbox);

impl std::ops::Deref for Game {
    type Target = Sandbox;

    fn deref(&self) -> &Sandbox {
        &self.0
    }
}

impl Game {
    fn new() -> Self {
        Self(crate::program())
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn program(&self, name: &str, base: u64, kind: u64) {
        self.write(name, &Program { base, kind }.text(""));
    }

    fn judging(&self, change: &str, more: &[&str]) -> Command {
        let change = format!("./{change} {{seed}}");
        let judge = ["judge", "./old {seed}", &change, "--metric", "loss", "--plain"];
        self.command(&[&judge[..], &["--session", "research.toml"], more].concat())
    }

    fn judge(&self, change: &str, more: &[&str]) -> Outcome {
        Outcome(self.judging(change, more).output().unwrap())
    }

    fn keep(&self, change: &str) {
        fs::copy(self.path(change), self.path("old")).unwrap();
    }

    /// Returns the number of starts of a program.
    fn starts(&self, name: &str) -> usize {
        let all = fs::read_to_string(self.path("starts")).unwrap_or_default();
        all.lines().filter(|line| line.starts_with(&format!("./{name} "))).count()
    }

    fn ledger(&self) -> Table {
        fs::read_to_string(self.path("research.toml")).unwrap().parse().unwrap()
    }

    fn judgements(&self) -> Vec<Table> {
        let all = self.ledger()["judgement"].as_array().unwrap().clone();
        all.into_iter().map(|entry| entry.as_table().unwrap().clone()).collect()
    }
}

fn number(entry: &Table, name: &str) -> u64 {
    entry[name].as_integer().unwrap().try_into().unwrap()
}

fn word<'a>(entry: &'a Table, name: &str) -> &'a str {
    entry[name].as_str().unwrap()
}

/// One in seven proposals improves by two standard deviations of the noise.
#[test]
fn a_session_of_100_proposals_is_what_the_rules_say() {
    let sandbox = Game::new();
    let mut incumbent = Program { base: 100_000, kind: 0 };
    sandbox.program("old", incumbent.base, incumbent.kind);
    let (mut j, mut kept, mut expected) = (1, 0, Vec::new());
    for kind in 1..=100 {
        let base = incumbent.base - if kind % 7 == 0 { 600 } else { 0 };
        let change = Program { base, kind };
        sandbox.program("new", base, kind);
        let said = sandbox.judge("new", &["--note", &format!("kind {kind}")]);
        let pairs: Vec<[f64; 2]> =
            (1..=schedule(j).seeds).map(|seed| [change.loss(seed), incumbent.loss(seed)]).collect();
        let (verdict, code, count) = match judge(j, &pairs) {
            Judgement::Improvement(after) => ("kept", 0, after),
            Judgement::GivenUp(after) if after as u64 == schedule(j).seeds => {
                ("undecided", 12, after)
            }
            Judgement::GivenUp(after) => ("futile", 13, after),
            Judgement::Open => unreachable!("all pairs are there"),
        };
        assert_eq!(said.code(), code, "{kind}: {}{}", said.stdout(), said.stderr());
        let gains = pairs[..count].iter().map(|[a, b]| a - b);
        expected.push((verdict, count as u64, j, gains.sum::<f64>() / count as f64));
        j += 1;
        if verdict == "kept" {
            (incumbent, j, kept) = (change, 1, kept + 1);
            sandbox.keep("new");
        }
    }
    let judgements = sandbox.judgements();
    assert_eq!(judgements.len(), 100);
    for (entry, (verdict, pairs, j, effect)) in judgements.iter().zip(expected) {
        let found = (word(entry, "verdict"), number(entry, "pairs"), number(entry, "j"));
        assert_eq!(found, (verdict, pairs, j), "{entry}");
        assert!((entry["effect"].as_float().unwrap() - effect).abs() < 1e-6, "{entry}");
        let high = entry.get("interval").and_then(|interval| interval.get("high")?.as_float());
        assert_eq!(high.is_some_and(|high| high < 0.0), verdict == "kept", "{entry}");
    }
    assert!(kept >= 3, "{kept} were kept");
    let shown = sandbox.run(&["session", "research.toml"]).stdout();
    for part in [
        "100 judgements of loss, of which lower is better",
        "kind 99",
        "From start to now: 100",
        &format!("Budget {}: {} of 900", kept + 1, j - 1),
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let document = sandbox.run(&["session", "research.toml", "--json"]).stdout();
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["kept"], kept);
    assert_eq!(document["ledger"]["judgement"].as_array().unwrap().len(), 100);
}

#[test]
fn the_incumbents_runs_are_used_again_and_nothing_is_tried_twice() {
    let sandbox = Game::new();
    sandbox.program("old", 1000, 1);
    sandbox.program("new", 1, 2);
    let kept = sandbox.judge("new", &["--note", "better"]);
    assert_eq!(kept.code(), 0, "{}{}", kept.stdout(), kept.stderr());
    assert!(
        kept.stdout().ends_with("Kept, as judgement 1 of this session.\n"),
        "{}",
        kept.stdout()
    );
    let pairs = sandbox.starts("new");
    assert_eq!((pairs, sandbox.starts("old")), (8, 8));
    let again = sandbox.judge("new", &[]);
    assert!(again.stdout().contains("tried before, as judgement 1"), "{}", again.stdout());
    assert_eq!((again.code(), sandbox.starts("new")), (0, 8));

    sandbox.keep("new");
    let same = sandbox.judge("new", &[]).refused(2, "have the same contents");
    assert!(same.contains("./old"), "{same}");
    sandbox.program("new", 2000, 3);
    let worse = sandbox.judge("new", &["--note", "worse"]);
    assert_eq!(worse.code(), 13, "{}{}", worse.stdout(), worse.stderr());
    assert!(
        worse
            .stderr()
            .contains("`./old {seed}` is what was kept last, and 8 of its runs are used again"),
        "{}",
        worse.stderr()
    );
    assert!(worse.stdout().contains("is given up because an improvement is unlikely"));
    assert_eq!((sandbox.starts("new"), sandbox.starts("old")), (8 + 3, 8));
    assert_eq!(sandbox.judge("new", &[]).code(), 13);
    assert_eq!((sandbox.starts("new"), sandbox.judgements().len()), (8 + 3, 2));
    let last = &sandbox.judgements()[1];
    assert_eq!((number(last, "reused"), number(last, "j")), (8, 1));
    // A new incumbent set by hand does not begin a new budget.
    sandbox.program("old", 3000, 4);
    let by_hand = sandbox.judge("new", &[]);
    assert!(by_hand.stderr().contains("A is not what was kept last"), "{}", by_hand.stderr());
    let last = &sandbox.judgements()[2];
    assert_eq!(number(last, "j"), 2);
    assert_eq!(sandbox.starts("old"), 8 + number(last, "pairs") as usize, "all were run anew");
    let shown = sandbox.run(&["session", "research.toml"]).stdout();
    assert!(
        shown.contains("Before judgement 3, this changed: A is not what was kept last"),
        "{shown}"
    );
}

#[test]
fn two_judges_at_once_wait_for_each_other() {
    let sandbox = Game::new();
    sandbox.program("old", 1000, 1);
    let waits = "while [ ! -e go ]; do sleep 0.01; done";
    sandbox.write("one", &Program { base: 5000, kind: 2 }.text(waits));
    sandbox.program("two", 6000, 3);
    let mut first = sandbox.judging("one", &[]).stdout(Stdio::null()).spawn().unwrap();
    wait("a run of the first judge", || sandbox.starts("one") > 0);
    let said = fs::File::create(sandbox.path("said")).unwrap();
    let mut second =
        sandbox.judging("two", &[]).stdout(Stdio::null()).stderr(said).spawn().unwrap();
    wait("the second judge to wait", || {
        fs::read_to_string(sandbox.path("said")).unwrap().contains("waiting for process")
    });
    assert_eq!((sandbox.judgements().len(), sandbox.starts("two")), (1, 0));
    fs::write(sandbox.path("go"), "").unwrap();
    let codes = [&mut first, &mut second].map(|judge| judge.wait().unwrap().code());
    assert_eq!(codes, [Some(13); 2]);
    let judgements = sandbox.judgements();
    let js: Vec<u64> = judgements.iter().map(|entry| number(entry, "j")).collect();
    assert_eq!((js, sandbox.starts("old")), (vec![1, 2], 3));
}

#[test]
fn a_killed_judge_leaves_the_ledger_whole_and_the_same_command_goes_on() {
    let sandbox = Game::new();
    sandbox.program("old", 1000, 1);
    let waits = "while [ $1 = 2 ] && [ ! -e go ]; do sleep 0.01; done";
    sandbox.write("new", &Program { base: 1, kind: 2 }.text(waits));
    let mut judge = sandbox.judging("new", &[]).stdout(Stdio::null()).spawn().unwrap();
    wait("the second pair", || sandbox.starts("new") == 2);
    kill(&mut judge);
    let judgements = sandbox.judgements();
    assert_eq!((judgements.len(), word(&judgements[0], "verdict")), (1, "open"));
    let shown = sandbox.run(&["session", "research.toml"]).stdout();
    assert!(shown.contains("not finished") && shown.contains("run its command again"), "{shown}");
    fs::write(sandbox.path("go"), "").unwrap();
    assert_eq!(sandbox.judge("new", &[]).code(), 0);
    let judgements = sandbox.judgements();
    assert_eq!((judgements.len(), word(&judgements[0], "verdict")), (1, "kept"));
    assert_eq!(number(&judgements[0], "j"), 1);
    // If the worker ended with its judge, the current run began anew, but no other run.
    let starts = (sandbox.starts("new"), sandbox.starts("old"));
    assert!(starts == (9, 8) || starts == (8, 8), "{starts:?}");
}

#[test]
fn what_fails_at_once_takes_nothing_of_the_budget_and_is_tried_again_on_request() {
    let sandbox = Game::new();
    sandbox.program("old", 1000, 1);
    sandbox.write("new", "#!/bin/sh\n[ -e works ] || exit 3\necho \"{\\\"loss\\\": $1}\"\n");
    assert_eq!(sandbox.judge("new", &[]).code(), 1);
    assert_eq!(word(&sandbox.judgements()[0], "verdict"), "failed");
    let again = sandbox.judge("new", &[]);
    assert!(again.stdout().contains("--retry-failed tries it again"), "{}", again.stdout());
    assert_eq!((again.code(), sandbox.judgements().len()), (1, 1));
    fs::write(sandbox.path("works"), "").unwrap();
    assert_eq!(sandbox.judge("new", &["--retry-failed"]).code(), 0);
    let judgements = sandbox.judgements();
    assert_eq!((number(&judgements[1], "j"), word(&judgements[1], "verdict")), (1, "kept"));
}

#[test]
fn a_program_that_ignores_its_seed_shows_nothing() {
    let sandbox = Game::new();
    sandbox.write("old", "#!/bin/sh\necho '{\"loss\": 2}'\n");
    sandbox.write("new", "#!/bin/sh\necho '{\"loss\": 1}'\n");
    let said = sandbox.judge("new", &[]);
    assert_eq!(said.code(), 12, "{}{}", said.stdout(), said.stderr());
    assert!(said.stdout().contains("nothing varied with the seed"), "{}", said.stdout());
}

#[test]
fn a_session_goes_by_one_metric_and_its_own_plan() {
    let sandbox = Game::new();
    sandbox.program("old", 1000, 1);
    sandbox.program("new", 2000, 2);
    for flag in [&["--seeds", "8"][..], &["--level", "0.01"], &["--out", "x"]] {
        sandbox.judge("new", flag).refused(2, &format!("{} does not go with --session", flag[0]));
    }
    assert!(!sandbox.path("research.toml").exists());
    assert_eq!(sandbox.judge("new", &["--dry-run"]).code(), 0);
    assert!(!sandbox.path("research.toml").exists(), "a dry run writes nothing");
    assert_eq!(sandbox.judge("new", &["--until-decided"]).code(), 13);
    sandbox
        .judge("new", &["--higher", "loss"])
        .refused(2, "--higher is another than in research.toml");
    let text = fs::read_to_string(sandbox.path("research.toml")).unwrap();
    fs::write(sandbox.path("research.toml"), text.replace("\nj = 1\n", "\nj = 900\n")).unwrap();
    sandbox.program("new", 2000, 3);
    sandbox.judge("new", &[]).refused(2, "the budget of research.toml is spent");
    fs::write(sandbox.path("broken.toml"), "x = 1").unwrap();
    sandbox.run(&["session", "broken.toml"]).refused(1, "is no ledger of a session");
    sandbox.run(&["session", "none.toml"]).refused(1, "judge A B --session FILE");
}

#[test]
fn changed_dependencies_and_machines_are_lines_of_the_ledger() {
    let sandbox = Game::new();
    fs::write(sandbox.path("data.csv"), "1").unwrap();
    sandbox.program("old", 1000, 1);
    sandbox.program("new", 2000, 2);
    let depends = ["--depends", "*.csv"];
    assert_eq!(sandbox.judge("new", &depends).code(), 13);
    fs::write(sandbox.path("data.csv"), "2").unwrap();
    let text = fs::read_to_string(sandbox.path("research.toml")).unwrap();
    let machine = sandbox.ledger()["machine"].as_str().unwrap().to_owned();
    fs::write(sandbox.path("research.toml"), text.replacen(&machine, "elsewhere", 1)).unwrap();
    let said = sandbox.judge("new", &depends);
    assert!(said.stderr().contains("changed since the last judgement: --depends: data.csv"));
    assert_eq!((said.code(), sandbox.starts("old"), sandbox.starts("new")), (13, 6, 6));
    let lines = sandbox.judgements()[1]["changed"].to_string();
    assert!(lines.contains("--depends: data.csv") && lines.contains("before elsewhere"), "{lines}");
}
