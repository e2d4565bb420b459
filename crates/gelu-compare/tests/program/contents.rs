//! A run's identity includes the contents of the files that its command names, so a changed program makes new runs.

use gelu_compare::testing::Outcome;
use gelu_compare::testing::Sandbox;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// The warning before two seeds are run.
const TWO_SEEDS: &str = "gelu-compare: 2 seeds cannot decide a comparison, whatever they show: that takes 6 or more (--seeds 6)\n";

/// A folder with programs that count their starts.
struct Programs(Sandbox);

impl std::ops::Deref for Programs {
    type Target = Sandbox;

    fn deref(&self) -> &Sandbox {
        &self.0
    }
}

impl Programs {
    fn new() -> Self {
        Self(crate::program())
    }

    /// Writes a program that counts its starts and has a loss near `loss`.
    fn program(&self, name: &str, loss: &str) {
        let text = format!(
            "#!/bin/sh\necho x >> starts\nawk -v s=$1 'BEGIN {{ srand(s + 1000 * {loss}); printf \"{{\\\"loss\\\": %.6f}}\\n\", {loss} + 0.01 * rand() }}'\n"
        );
        fs::write(self.path(name), text).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn judge(&self, more: &[&str]) -> Outcome {
        let judge = ["judge", "./before {seed}", "./after {seed}", "--measure", "loss", "--plain"];
        self.run(&[&judge[..], more].concat())
    }

    fn starts(&self) -> usize {
        fs::read_to_string(self.path("starts")).unwrap_or_default().lines().count()
    }
}

#[test]
fn a_proposal_is_judged_by_its_own_runs_and_not_by_those_before_it() {
    let sandbox = Programs::new();
    sandbox.program("before", "1");
    sandbox.program("after", "0.9");
    sandbox.judge(&["--until-decided"]).success();
    fs::copy(sandbox.path("after"), sandbox.path("before")).unwrap();
    sandbox.program("after", "5");
    let second = sandbox.judge(&["--until-decided"]);
    assert_eq!(second.code(), 10, "{}{}", second.stdout(), second.stderr());
    let said = second.stderr();
    assert!(said.contains("./after, ./before changed since these "), "{said}");
    assert!(said.contains("They stay in the folder under their earlier content"), "{said}");
}

#[test]
fn a_changed_program_makes_new_runs_and_its_earlier_content_has_its_own() {
    let sandbox = Programs::new();
    sandbox.program("before", "1");
    sandbox.program("after", "0.9");
    let seeds = ["--seeds", "8"];
    sandbox.judge(&seeds).success();
    assert_eq!(sandbox.starts(), 16);
    sandbox.judge(&seeds).success();
    assert_eq!(sandbox.starts(), 16, "nothing changed");
    sandbox.program("after", "0.8");
    let said = sandbox.judge(&seeds);
    let expected = "./after changed since these 8 runs. They stay in the folder under its earlier content; 8 new runs \
                    begin.";
    assert!(said.stderr().contains(expected), "{}", said.stderr());
    assert_eq!(sandbox.starts(), 24);
    assert_eq!(sandbox.judge(&seeds).stderr(), "", "it is said once");
    sandbox.program("after", "0.9");
    let said = sandbox.judge(&seeds).stderr();
    assert!(said.contains("; 8 runs of its present content are there already."), "{said}");
    assert_eq!(sandbox.starts(), 24);
}

#[test]
fn modules_of_a_python_script_and_what_it_depends_on_count() {
    let sandbox = Programs::new();
    let write = |name: &str, text: &str| fs::write(sandbox.path(name), text).unwrap();
    write(
        "train.py",
        "import sys, json, model\nprint(json.dumps({'loss': model.loss(int(sys.argv[1]), sys.argv[2])}))",
    );
    write("model.py", "def loss(seed, x): return seed % 3 + float(x)");
    write("data.csv", "1");
    write("notes.md", "1");
    let compare = |more: &[&str]| {
        let compare = ["compare", "python3 train.py {seed} {x}", "--compare", "x=1,2"];
        let how = ["--metric", "loss", "--plain", "--seeds", "2"];
        let outcome = sandbox.run(&[&compare[..], &how, more].concat());
        let said = outcome.stderr();
        outcome.success();
        said.replace(TWO_SEEDS, "")
    };
    assert_eq!(compare(&[]), "");
    write("notes.md", "2");
    assert_eq!(compare(&[]), "", "no command names it");
    write("model.py", "def loss(seed, x): return seed % 3 + 2 * float(x)");
    assert!(compare(&[]).contains("model.py changed since these 4 runs."));
    let depends = ["--depends", "*.csv"];
    let said = compare(&depends);
    assert!(said.contains("These 4 runs did not depend on data.csv yet."), "{said}");
    write("data.csv", "2");
    assert!(compare(&depends).contains("data.csv changed since these 4 runs."));
    assert_eq!(sandbox.runs("results/train").len(), 16);
}

#[test]
fn what_a_program_writes_itself_is_not_what_it_depends_on() {
    let sandbox = Programs::new();
    fs::write(sandbox.path("t.sh"), "echo $1 >> $3; echo \"{\\\"loss\\\": $1$2}\"").unwrap();
    let compare = ["compare", "sh t.sh {x} {seed} log.txt", "--compare", "x=1,2", "--seeds", "2"];
    for _ in 0..2 {
        let outcome = sandbox.run(&[&compare[..], &["--metric", "loss", "--plain"]].concat());
        assert_eq!(outcome.stderr().replace(TWO_SEEDS, ""), "");
        outcome.success();
    }
    assert_eq!(fs::read_to_string(sandbox.path("log.txt")).unwrap().lines().count(), 4);
}

#[test]
fn a_program_that_changes_while_its_runs_go_on_ends_them() {
    let sandbox = Programs::new();
    fs::write(sandbox.path("t.sh"), "echo \"{\\\"loss\\\": $1$2}\"; echo '# changed' >> t.sh")
        .unwrap();
    let compare = ["compare", "sh t.sh {x} {seed}", "--compare", "x=1,2", "--seeds", "2"];
    let said = sandbox
        .run(&[&compare[..], &["--metric", "loss", "--plain"]].concat())
        .refused(1, "t.sh changed while this comparison was running");
    assert!(said.contains("Run the same command again"), "{said}");
}

#[test]
fn a_folder_made_before_contents_were_recorded_goes_on() {
    let sandbox = Programs::new();
    sandbox.program("before", "1");
    sandbox.program("after", "0.9");
    let judge = |seeds: &str| sandbox.judge(&["--seeds", seeds, "--out", "old"]);
    judge("8").success();
    // Removes what an earlier version did not record.
    let file = sandbox.path("old/comparison.toml");
    let text = fs::read_to_string(&file).unwrap();
    let mut old: toml::Table = text.parse().unwrap();
    old["recipe"].as_table_mut().unwrap().remove("contents").unwrap();
    fs::write(&file, old.to_string()).unwrap();
    for run in sandbox.runs("old") {
        fs::remove_dir_all(run).unwrap();
    }
    let said = judge("8");
    assert!(
        said.stderr().contains("an earlier version made old, and did not record"),
        "{}",
        said.stderr()
    );
    said.success();
    assert_eq!(sandbox.starts(), 32);
    let run = fs::read_to_string(sandbox.runs("old")[0].join("run.toml")).unwrap();
    assert!(!run.contains("files"), "{run}");
    sandbox.program("after", "0.8");
    let said = judge("8");
    assert!(said.stderr().contains("does not notice when a program changes"), "{}", said.stderr());
    said.success();
    assert_eq!(sandbox.starts(), 32);
}
