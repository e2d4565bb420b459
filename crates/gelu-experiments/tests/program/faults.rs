//! Tests of workers under random faults. `GELU_FAULT_ROUNDS=200` runs more rounds, `GELU_FAULT_SEED` repeats the
//! faults of a seed, and `GELU_MANY_RUNS=1000` measures the cost of a run besides its epochs.

use crate::support::{PROGRAM, Sandbox, results_of, runs_in};
use gelu_compare::runs::RunFolder;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Returns the arguments for six runs of many short epochs.
fn arguments(out: &str) -> Vec<&str> {
    let mut arguments = vec!["compare", "--activations", "gelu,relu,elu", "--seeds", "2"];
    arguments.extend(["--epochs", "30", "--train-limit", "256", "--test-limit", "64"]);
    arguments.extend(["--validation", "64", "--dropout", "0.2", "--plain", "--out", out]);
    arguments
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap())
}

/// The fault of a round.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Kill,
    Freeze,
    FullDisk,
    CorruptCheckpoint,
    DamagedStatus,
    Permissions,
    Terminate,
}

const FAULTS: [Fault; 7] = [
    Fault::Kill,
    Fault::Freeze,
    Fault::FullDisk,
    Fault::CorruptCheckpoint,
    Fault::DamagedStatus,
    Fault::Permissions,
    Fault::Terminate,
];

fn worker(sandbox: &Sandbox, out: &str, full_disk: bool) -> Child {
    let limit = match full_disk {
        // No file can grow beyond 50 kB. With the signal ignored, writing fails instead of ending the process.
        true => "trap '' XFSZ; ulimit -f 100; ",
        false => "",
    };
    Command::new("sh")
        .args(["-c", &format!("{limit}exec \"$0\" work \"$1\""), PROGRAM, out])
        .current_dir(sandbox.path(""))
        .env("RAYON_NUM_THREADS", "1")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn signal(name: &str, process: &Child) {
    // The process may have ended already.
    let _ = Command::new("kill")
        .args([&format!("-{name}"), &process.id().to_string()])
        .stderr(Stdio::null())
        .status();
}

/// Returns the number of safe epochs of every run: those of its newest intact checkpoint, or all of a complete run.
fn epochs(folder: &Path) -> BTreeMap<PathBuf, usize> {
    let count = |path: PathBuf| {
        let epochs = match RunFolder::at(&path).checkpoint() {
            Ok((Some(checkpoint), _)) => checkpoint.epoch,
            _ => RunFolder::at(&path).metrics().map_or(0, |epochs| epochs.len()),
        };
        (path, epochs)
    };
    runs_in(folder).into_iter().map(count).collect()
}

/// Damages the newest checkpoint of a run whose last two checkpoints are intact, if there is one.
fn corrupt(folder: &Path, random: &mut ChaCha8Rng) {
    let mut runs: Vec<PathBuf> = epochs(folder).into_keys().collect();
    while !runs.is_empty() {
        let run = runs.swap_remove(random.random_range(0..runs.len()));
        let checkpoints = fs::read_dir(&run).unwrap().map(|entry| entry.unwrap().path());
        let checkpoints =
            checkpoints.filter(|path| path.to_string_lossy().contains("/checkpoint-"));
        let (Ok((Some(newest), damaged)), 2) =
            (RunFolder::at(&run).checkpoint(), checkpoints.count())
        else {
            continue;
        };
        // Already damaged in an earlier round, and not yet repaired by a worker.
        if !damaged.is_empty() {
            continue;
        }
        let names = ["model.bpk", "optimizer.bpk", "scheduler.bpk", "metrics.csv", "SHA256SUMS"];
        let file = newest.path.join(names[random.random_range(0..names.len())]);
        let mut content = fs::read(&file).unwrap();
        let place = random.random_range(0..content.len());
        match random.random_range(0..3) {
            0 => content.truncate(place),
            1 => content[place] ^= 1 << random.random_range(0..8),
            _ => content.clear(),
        }
        return fs::write(file, content).unwrap();
    }
}

#[track_caller]
fn wait(process: &mut Child, round: u64) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while process.try_wait().unwrap().is_none() {
        assert!(Instant::now() < deadline, "a worker of round {round} does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn nothing_is_lost_and_nothing_hangs_whatever_goes_wrong() {
    let rounds = number("GELU_FAULT_ROUNDS").unwrap_or(14);
    let seed = number("GELU_FAULT_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    eprintln!("{rounds} rounds of GELU_FAULT_SEED={seed}");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let sandbox = Sandbox::new();
    sandbox.run(&arguments("whole")).success();

    let (mut folders, mut round) = (0, 0);
    while round < rounds {
        folders += 1;
        let out = format!("shared-{folders}");
        let folder = sandbox.path(&out);
        let mut made = arguments(&out);
        made[0] = "submit";
        made.retain(|argument| *argument != "--plain");
        sandbox.run(&made).success();
        while round < rounds {
            round += 1;
            let fault = FAULTS[random.random_range(0..FAULTS.len())];
            if round_of(fault, &sandbox, &out, round, &mut random) {
                break;
            }
        }
        // A failed run is tried again with `--retry-failed`.
        sandbox.run(&[&arguments(&out)[..], &["--retry-failed"]].concat()).success();
        for (whole, run) in sandbox.runs("whole").iter().zip(sandbox.runs(&out)) {
            assert_eq!(whole.file_name(), run.file_name());
            assert!(results_of(whole) == results_of(&run), "{} differs", run.display());
            assert!(ends(&run) <= 1, "{} was trained to its end once", run.display());
        }
        let left = epochs(&folder);
        assert_eq!(left.len(), 6);
    }
}

/// Runs two workers, with a fault in one of them; returns whether all runs were finished before the end.
fn round_of(
    fault: Fault,
    sandbox: &Sandbox,
    out: &str,
    round: u64,
    random: &mut ChaCha8Rng,
) -> bool {
    let folder = sandbox.path(out);
    if matches!(fault, Fault::CorruptCheckpoint) {
        corrupt(&folder, random);
    }
    let before = epochs(&folder);
    if let (Fault::DamagedStatus, Some(run)) = (fault, before.keys().next_back()) {
        fs::write(run.join("status.json"), "{\"state\":").unwrap();
    }
    let mut victim = worker(sandbox, out, matches!(fault, Fault::FullDisk));
    let mut other = worker(sandbox, out, false);
    let pause = |random: &mut ChaCha8Rng| {
        std::thread::sleep(Duration::from_millis(random.random_range(50..1200)));
    };
    pause(random);
    match fault {
        Fault::Kill => signal("KILL", &victim),
        Fault::Terminate => signal("TERM", &victim),
        Fault::Freeze => {
            signal("STOP", &victim);
            pause(random);
            signal("CONT", &victim);
        }
        Fault::Permissions => {
            if let Some(run) = before.keys().next() {
                let permissions = fs::metadata(run).unwrap().permissions();
                fs::set_permissions(run, fs::Permissions::from_mode(0o000)).unwrap();
                pause(random);
                fs::set_permissions(run, permissions).unwrap();
            }
        }
        Fault::FullDisk | Fault::CorruptCheckpoint | Fault::DamagedStatus => {}
    }
    let ended = |process: &mut Child| process.try_wait().unwrap().is_some();
    let done = ended(&mut victim) && ended(&mut other);
    for process in [&mut victim, &mut other] {
        signal("TERM", process);
        wait(process, round);
    }
    let after = epochs(&folder);
    for (run, epochs) in before {
        let now = after[&run];
        assert!(
            now >= epochs,
            "{fault:?} in round {round}: {now} of {epochs} in {}",
            run.display()
        );
    }
    done
}

/// Returns the number of sessions that finished a run.
fn ends(run: &Path) -> usize {
    let sessions = RunFolder::at(run).provenance().unwrap();
    sessions.iter().filter(|session| session.outcome.as_deref() == Some("finished")).count()
}

/// Returns the processor time of this process's ended children, in seconds.
fn children_seconds() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = text.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: f64 = fields[13].parse::<f64>().unwrap() + fields[14].parse::<f64>().unwrap();
    ticks / 100.0
}

#[test]
fn many_tiny_runs_cost_little_besides_their_epochs() {
    let Some(runs) = number("GELU_MANY_RUNS") else {
        eprintln!("skipped: GELU_MANY_RUNS=1000 asks for it");
        return;
    };
    let sandbox = Sandbox::new();
    let seeds = (runs / 4).to_string();
    let arguments = |epochs: &'static str, out: &'static str| {
        let mut arguments = vec!["compare", "--activations", "gelu,relu", "--seeds", &seeds];
        arguments.extend(["--learning-rates", "1e-3,1e-4", "--epochs", epochs, "--out", out]);
        arguments.extend(["--train-limit", "128", "--test-limit", "16", "--validation", "16"]);
        arguments.extend(["--jobs", "4", "--plain"]);
        arguments.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let measure = |epochs, out| {
        let before = children_seconds();
        let arguments = arguments(epochs, out);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let started = Instant::now();
        sandbox.run(&arguments).success();
        (children_seconds() - before, started.elapsed().as_secs_f64())
    };
    // The first epoch costs as much as the second and the third, which are measured.
    let ((one, wall), (three, _)) = (measure("1", "one"), measure("3", "three"));
    let epochs = (three - one) / 2.0;
    let besides = (one - epochs) / runs as f64;
    eprintln!(
        "{runs} runs of one epoch by 4 workers: {one:.1} s of processor time in {wall:.1} s; an \
         epoch {:.4} s, {besides:.4} s a run besides",
        epochs / runs as f64
    );
    assert_eq!(sandbox.runs("one").len() as u64, runs);
    assert!(besides <= 0.1, "{besides} s of processor time a run");
}
