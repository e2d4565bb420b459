//! Processes that add settings to one comparison at the same time.

use super::processes::{Process, paced, with};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Returns the values of the compared axis in a comparison's plan.
fn planned(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("comparison.toml")).unwrap();
    let comparison: toml::Table = text.parse().unwrap();
    let values = comparison["recipe"]["axes"][0]["values"].as_array().unwrap();
    values.iter().map(ToString::to_string).collect()
}

#[test]
fn two_processes_that_widen_one_comparison_lose_nothing_and_a_killed_one_is_in_nobodys_way() {
    let sandbox = paced();
    let (mut both, mut refused, mut killed) = (0, 0, 0);
    for round in 0..24u64 {
        let out = format!("round-{round}");
        let submit = |rates: &str| {
            let rates = format!("rate={rates}");
            sandbox.command(&with("submit", &out, &["--compare", &rates]))
        };
        Process::start(&mut submit("3.6,3.7")).ended().success();
        let folder = sandbox.path(&out);
        // One process asks for more than the other, or for something else.
        let others = ["3.6,3.7,3.8", ["3.6,3.7,3.9", "3.6,3.7,3.8,3.9"][round as usize % 2]];
        let mut processes = others.map(|rates| Some(Process::start(&mut submit(rates))));
        if round % 3 == 2 {
            // Roughly when the process is about to extend the plan.
            let deadline = Instant::now() + Duration::from_secs(1);
            while !folder.join("plan").exists() && Instant::now() < deadline {}
            std::thread::sleep(Duration::from_micros(200 * round));
            drop(processes[0].take());
            killed += 1;
        }
        let mut done = 0;
        for (process, rates) in processes.into_iter().zip(others) {
            let Some(process) = process else { continue };
            let ended = process.ended();
            match ended.code() {
                0 => {
                    done += 1;
                    let plan = planned(&folder);
                    let missing = rates.split(',').find(|rate| !plan.contains(&(*rate).to_owned()));
                    assert_eq!(missing, None, "round {round}: of {rates} in {plan:?}");
                }
                _ => {
                    ended.refused(1, "which is not asked for now");
                    refused += 1;
                }
            }
        }
        both += usize::from(done == 2);
        // The next process does not have to wait for the lease of a killed one, which takes a minute.
        let began = Instant::now();
        Process::start(&mut submit("3.6,3.7,3.8,3.9,4")).ended().success();
        assert_eq!(planned(&folder).len(), 5);
        assert!(began.elapsed() < Duration::from_secs(30), "it waited for {:?}", began.elapsed());
    }
    eprintln!("both widened {both} times, {refused} were refused, {killed} killed");
    assert!(refused > 0, "they have never met");
}

#[test]
fn fewer_settings_or_others_are_refused_and_more_join() {
    let sandbox = paced();
    let compare = |rates: &str| {
        let rates = format!("rate={rates}");
        sandbox.run(&[&with("compare", "out", &["--compare", &rates])[..], &["--plain"]].concat())
    };
    compare("3.6,3.7").success();
    let plan = || fs::read(sandbox.path("out/comparison.toml")).unwrap();
    let before = plan();
    let said = compare("3.6,3.8").refused(1, "rate has 3.7 there, which is not asked for now");
    assert!(said.contains("--out"), "{said}");
    assert_eq!(plan(), before);
    let wider = compare("3.6,3.7,3.8").success();
    let epochs = |rate: &str| {
        let rate = format!(" rate {rate} ");
        wider.lines().filter(|line| line.contains(&rate) && line.contains("  epoch ")).count()
    };
    assert_eq!(["3.6", "3.7", "3.8"].map(epochs), [0, 0, 10], "{wider}");
    assert_eq!(sandbox.runs("out").len(), 3);
}
