//! Tests of several processes that extend a comparison.

use super::*;
use gelu_compare::runs::DataSource;
use std::fs;
use std::time::Instant;

/// Returns the comparison with `seeds` seeds.
fn with_seeds(seeds: u64) -> Plan {
    let recipe = Recipe::named("mnist-classifier").unwrap();
    let data = DataSource::new("mnist", Some("somewhere".into()), false, [b"content"]);
    let mut wider = Plan::new(recipe, data, "flex", "flex");
    wider.recipe.comparison.seeds = seeds;
    wider
}

/// Returns a comparison's folder in the state while a process with the host identity `by` extends it.
fn being_widened(by: &str) -> tempfile::TempDir {
    let out = tempfile::tempdir().unwrap();
    let mut narrow = with_seeds(8);
    narrow.lease_seconds = 1;
    Comparison::create(out.path(), &narrow, |_, _| false).unwrap();
    let lease = out.path().join("plan/lease-0003");
    fs::create_dir_all(&lease).unwrap();
    let holder = format!(r#"{{"host":"h","identity":"{by}","process":1,"beat":0}}"#);
    fs::write(lease.join("holder.json"), holder).unwrap();
    fs::write(lease.join("comparison.toml"), "vers").unwrap();
    out
}

#[test]
fn whoever_died_while_it_widened_a_comparison_is_in_nobodys_way() {
    let here = gelu_compare::host::identity();
    for (by, least) in [(here.as_str(), Duration::ZERO), ("elsewhere", Duration::from_secs(1))] {
        let (out, began) = (being_widened(by), Instant::now());
        let (folder, widened) =
            Comparison::create(out.path(), &with_seeds(9), |_, _| false).unwrap();
        assert!((least..Duration::from_secs(20)).contains(&began.elapsed()), "{by}");
        assert_eq!(widened.recipe.comparison.seeds, 9);
        assert_eq!(folder.plan().unwrap(), widened);
        assert!(out.path().join("plan/free-0004").exists());
    }
}

#[test]
fn of_many_that_widen_one_comparison_at_once_none_loses_what_it_was_given() {
    for _ in 0..10 {
        let out = tempfile::tempdir().unwrap();
        Comparison::create(out.path(), &with_seeds(8), |_, _| false).unwrap();
        let widen = |seeds| {
            let path = out.path().to_path_buf();
            std::thread::spawn(move || {
                let made = Comparison::create(&path, &with_seeds(seeds), |_, _| false);
                made.is_ok().then_some(seeds)
            })
        };
        let threads: Vec<_> = (9..15).map(widen).collect();
        let given = threads.into_iter().filter_map(|thread| thread.join().unwrap()).max();
        let folder = Comparison::open(out.path()).unwrap();
        assert_eq!(Some(folder.plan().unwrap().recipe.comparison.seeds), given);
    }
}
