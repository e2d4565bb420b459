//! The surroundings of programs: their share of the machine, their output, and their end.

use gelu_compare::testing::Outcome;
use gelu_compare::testing::{Sandbox, wait};
use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

const COMPARE: [&str; 8] = [
    "compare",
    "sh train.sh {x} {seed}",
    "--compare",
    "x=1,2",
    "--metric",
    "error",
    "--plain",
    "--seeds",
];

/// A folder with a script to compare at two settings.
struct Script(Sandbox);

impl std::ops::Deref for Script {
    type Target = Sandbox;

    fn deref(&self) -> &Sandbox {
        &self.0
    }
}

impl Script {
    fn new(script: &str) -> Self {
        Self(crate::scripted(script))
    }

    fn compare(&self, seeds: &str, more: &[&str]) -> Outcome {
        self.run(&[&COMPARE[..], &[seeds], more].concat())
    }

    /// Returns the lines that all runs have written to their files.
    fn noted(&self) -> BTreeSet<String> {
        let text = |run: std::path::PathBuf| fs::read_to_string(run.join("kept/noted")).unwrap();
        let runs = self.runs("results/train").into_iter();
        runs.flat_map(|run| text(run).lines().map(str::to_owned).collect::<Vec<_>>()).collect()
    }
}

/// A script that writes its share of the machine to a file. Runs wait until enough of them run at the same time.
const NOTES: &str = r#"echo "$GELU_SLOT $CUDA_VISIBLE_DEVICES $ROCR_VISIBLE_DEVICES $HIP_VISIBLE_DEVICES $OMP_NUM_THREADS $MKL_NUM_THREADS $RAYON_NUM_THREADS" > $GELU_RUN/noted
touch began-$1-$2
while [ $(ls began-* | wc -l) -lt $(cat at-once) ]; do sleep 0.02; done
echo "{\"error\": 0.$1$2}""#;

#[test]
fn every_run_has_a_slot_a_gpu_and_its_share_of_the_threads() {
    let sandbox = Script::new(NOTES);
    fs::write(sandbox.path("at-once"), "2").unwrap();
    sandbox.compare("1", &["--gpus", "3,GPU-ab12", "--threads-per-run", "5"]).success();
    assert_eq!(
        sandbox.noted(),
        BTreeSet::from(["0 3 3 0 5 5 5".to_owned(), "1 GPU-ab12 GPU-ab12 0 5 5 5".to_owned()])
    );
    let sandbox = Script::new(NOTES);
    fs::write(sandbox.path("at-once"), "2").unwrap();
    let mut command =
        sandbox.command(&[&COMPARE[..], &["1", "--jobs", "2", "--gpus", "7"]].concat());
    command.env_remove("OMP_NUM_THREADS").env("MKL_NUM_THREADS", "9");
    command.env_remove("RAYON_NUM_THREADS");
    Outcome(command.output().unwrap()).success();
    let share = (std::thread::available_parallelism().unwrap().get() / 2).max(1);
    let expected = |slot: usize| format!("{slot} 7 7 0 {share} 9 {share}");
    assert_eq!(sandbox.noted(), BTreeSet::from([expected(0), expected(1)]), "chosen ones stay");
    sandbox.compare("1", &["--gpus", "0,,1"]).refused(2, "GPUs are listed as in 0,1");
}

#[test]
fn all_that_a_program_prints_is_kept_and_shown() {
    let sandbox = Script::new("seq 1 2000; echo 'on standard error' >&2; echo '{\"error\": 0.5}'");
    sandbox.compare("1", &[]).success();
    let run = sandbox.runs("results/train").remove(0);
    assert!(
        run.join("output-0001.txt.gz").is_file()
            || fs::read_dir(&run)
                .unwrap()
                .any(|entry| { entry.unwrap().file_name().to_string_lossy().ends_with(".txt.gz") })
    );
    let text = sandbox.run(&["log", run.to_str().unwrap()]).success();
    assert!(text.contains("1\n2\n3\n") && text.contains("\n2000\n"), "{text}");
    assert!(text.contains("on standard error\n") && text.contains("{\"error\": 0.5}\n"));
    sandbox.run(&["log", "results"]).refused(1, "holds no run (no run.toml)");
}

#[test]
fn the_middle_of_a_long_output_is_cut_and_that_is_said() {
    let sandbox = Script::new("seq 1 20000; echo '{\"error\": 0.5}'");
    sandbox.compare("1", &["--keep-output", "8KB"]).success();
    let run = sandbox.runs("results/train").remove(0);
    let text = sandbox.run(&["log", run.to_str().unwrap()]).success();
    assert!(text.starts_with("1\n2\n") && text.ends_with("{\"error\": 0.5}\n"), "{text}");
    assert!(text.len() < 9000 && text.contains("cut out of the middle of this output"), "{text}");
    sandbox.compare("1", &["--keep-output", "much"]).refused(2, "a size is written as in 200MB");
}

#[test]
fn a_run_is_followed_to_its_end() {
    let sandbox = Script::new(
        "echo begins; while [ ! -e go ]; do sleep 0.02; done; echo ends; echo '{\"error\": 0.5}'",
    );
    let mut compare = sandbox.command(&[&COMPARE[..], &["1"]].concat());
    let mut compare = compare.stdout(Stdio::null()).spawn().unwrap();
    let runs = || {
        fs::read_dir(sandbox.path("results/train/runs")).is_ok_and(|mut runs| runs.next().is_some())
    };
    wait("the first run", || runs() && sandbox.runs("results/train")[0].join("run.toml").exists());
    let run = sandbox.runs("results/train").remove(0);
    let mut follow = sandbox.command(&["log", run.to_str().unwrap(), "--follow"]);
    let follow = follow.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    fs::write(sandbox.path("go"), "").unwrap();
    let text = Outcome(follow.wait_with_output().unwrap()).success();
    assert_eq!(text, "begins\nends\n{\"error\": 0.5}\n");
    assert!(compare.wait().unwrap().success());
}

#[test]
fn a_failed_run_ends_with_its_last_lines_and_the_command_that_shows_all() {
    let sandbox = Script::new("seq 1 100; echo 'no such data' >&2; exit 7");
    let said = sandbox.compare("1", &[]).refused(1, "no such data");
    let (_, command) = said.split_once("Its whole output: gelu-compare ").unwrap();
    let words: Vec<&str> = command.lines().next().unwrap().split(' ').collect();
    let text = sandbox.run(&words).success();
    assert!(text.starts_with("1\n2\n") && text.contains("no such data"), "{text}");
}

#[test]
fn a_program_that_is_stopped_has_its_time_to_end() {
    let script = r#"save() { sleep 3; echo saved > saved; exit 0; }
trap save TERM
echo x > began
while :; do sleep 0.05; done"#;
    let stopped = |grace: &[&str]| {
        let sandbox = Script::new(script);
        let mut compare = sandbox.command(&[&COMPARE[..], &["1"], grace].concat());
        let mut compare = compare.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait("the program", || sandbox.path("began").exists());
        for _ in 0..2 {
            let kill = Command::new("kill").args(["-INT", &compare.id().to_string()]).status();
            assert!(kill.unwrap().success());
            std::thread::sleep(std::time::Duration::from_millis(300));
        }
        assert_eq!(compare.wait().unwrap().code(), Some(130));
        sandbox.path("saved").exists()
    };
    assert!(!stopped(&["--grace", "0"]));
    assert!(stopped(&["--grace", "30"]));
}

#[test]
fn a_comparison_goes_on_from_the_file_it_was_packed_into() {
    let sandbox = Script::new(r#"echo begun >> begun; echo "{\"error\": 0.$1$2}""#);
    sandbox.compare("2", &["--out", "it"]).success();
    sandbox.run(&["pack", "it"]).success();
    fs::remove_dir_all(sandbox.path("it")).unwrap();
    let went_on = sandbox.compare("3", &["--out", "it.zip"]);
    assert!(went_on.stderr().contains("it.zip: unpacked into it\n"), "{}", went_on.stderr());
    went_on.success();
    let begun = fs::read_to_string(sandbox.path("begun")).unwrap();
    assert_eq!(begun.lines().count(), 2 * 3, "finished runs are not trained again");
    let again = sandbox.compare("3", &["--out", "it.zip"]);
    assert!(!again.stderr().contains("unpacked"), "{}", again.stderr());
    again.success();
}
