//! Workers under random faults. `GELU_FAULT_ROUNDS=200` asks for more rounds, and `GELU_FAULT_SEED` repeats the
//! faults of a seed.

use super::processes::{Process, assert_ended_once, paced, results_are_those_of, status};
use gelu_compare::runs::RunFolder;
use gelu_compare::testing::Sandbox;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Returns the arguments for six runs of many short epochs. Their checkpoints are larger than `FullDisk` allows.
fn arguments<'a>(command: &'a str, out: &'a str) -> Vec<&'a str> {
    let mut arguments = vec![command, "--compare", "rate=3.7,3.8,3.9", "--seeds", "2"];
    arguments.extend(["--set", "epochs=30", "--set", "pause=20", "--set", "ballast=70000"]);
    arguments.extend(["--out", out]);
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

fn worker(sandbox: &Sandbox, out: &str, full_disk: bool) -> Process {
    let limit = match full_disk {
        // No file can grow beyond 50 kB. With the signal ignored, writing fails instead of ending the process.
        true => "trap '' XFSZ; ulimit -f 100; ",
        false => "",
    };
    let worker = sandbox.command(&["work", out]);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{limit}exec \"$0\" \"$@\"")]);
    shell.arg(worker.get_program()).args(worker.get_args());
    Process::start(shell.current_dir(sandbox.folder.path()))
}

/// Sends a signal to a process that may have ended already.
fn try_signal(name: &str, process: &Process) {
    let _ = Command::new("kill")
        .args([&format!("-{name}"), &process.id().to_string()])
        .stderr(Stdio::null())
        .status();
}

/// Returns the number of safe epochs of every run: those of its newest intact checkpoint, or all of a complete run.
fn epochs(sandbox: &Sandbox, out: &str) -> BTreeMap<PathBuf, usize> {
    let count = |path: PathBuf| {
        let epochs = match RunFolder::at(&path).checkpoint() {
            Ok((Some(checkpoint), _)) => checkpoint.epoch,
            _ => RunFolder::at(&path).metrics().map_or(0, |epochs| epochs.len()),
        };
        (path, epochs)
    };
    sandbox.runs(out).into_iter().map(count).collect()
}

/// Damages the newest checkpoint of a run whose last two checkpoints are intact, if there is one.
fn corrupt(sandbox: &Sandbox, out: &str, random: &mut ChaCha8Rng) {
    let mut runs = sandbox.runs(out);
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
        let names = ["x", "ballast", "metrics.csv", "SHA256SUMS"];
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

#[test]
fn nothing_is_lost_and_nothing_hangs_whatever_goes_wrong() {
    let rounds = number("GELU_FAULT_ROUNDS").unwrap_or(14);
    let seed = number("GELU_FAULT_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    eprintln!("{rounds} rounds of GELU_FAULT_SEED={seed}");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let sandbox = paced();
    let (mut folders, mut round) = (0, 0);
    while round < rounds {
        folders += 1;
        let out = format!("shared-{folders}");
        sandbox.run(&arguments("submit", &out)).success();
        while round < rounds {
            round += 1;
            let fault = FAULTS[random.random_range(0..FAULTS.len())];
            if round_of(fault, &sandbox, &out, round, &mut random) {
                break;
            }
        }
        // A failed run is tried again with `--retry-failed`.
        sandbox.run(&[&arguments("compare", &out)[..], &["--retry-failed"]].concat()).success();
        results_are_those_of(&sandbox, &out, &arguments("compare", "whole"));
        assert_ended_once(&sandbox, &out);
        assert_eq!(sandbox.runs(&out).len(), 6);
    }
}

/// Runs two workers, with a fault in one of them; returns whether all runs were over before the end.
fn round_of(
    fault: Fault,
    sandbox: &Sandbox,
    out: &str,
    round: u64,
    random: &mut ChaCha8Rng,
) -> bool {
    if matches!(fault, Fault::CorruptCheckpoint) {
        corrupt(sandbox, out, random);
    }
    let before = epochs(sandbox, out);
    // A loop does not say how many epochs it has, so a finished run would begin anew without its status.
    let mut unfinished = before.keys().filter(|run| !status(run).contains("finished"));
    if let (Fault::DamagedStatus, Some(run)) = (fault, unfinished.next_back()) {
        fs::write(run.join("status.json"), "{\"state\":").unwrap();
    }
    let mut victim = worker(sandbox, out, matches!(fault, Fault::FullDisk));
    let mut other = worker(sandbox, out, false);
    let pause = |random: &mut ChaCha8Rng| {
        std::thread::sleep(Duration::from_millis(random.random_range(20..500)));
    };
    pause(random);
    match fault {
        Fault::Kill => try_signal("KILL", &victim),
        Fault::Terminate => try_signal("TERM", &victim),
        Fault::Freeze => {
            try_signal("STOP", &victim);
            pause(random);
            try_signal("CONT", &victim);
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
    let done = victim.is_over() && other.is_over();
    for process in [victim, other] {
        try_signal("TERM", &process);
        process.ended();
    }
    let after = epochs(sandbox, out);
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
