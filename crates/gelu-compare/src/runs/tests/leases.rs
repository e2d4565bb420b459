use super::*;
use crate::Error;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Makes a lease appear to be held by a process of another host.
fn held_elsewhere(folder: &RunFolder) -> PathBuf {
    let lease = folder.file("lease-0001");
    fs::rename(folder.file("free-0000"), &lease).unwrap();
    let holder = Holder {
        host: "elsewhere".to_owned(),
        identity: "another kernel".to_owned(),
        process: 1,
        beat: 0,
    };
    fs::write(lease.join("holder.json"), serde_json::to_string(&holder).unwrap()).unwrap();
    lease
}

fn try_claim(folder: &RunFolder, watch: &mut Watch, silence: Duration) -> Option<ClaimedRun> {
    ClaimedRun::claim(folder, &spec(), watch, silence).unwrap().ok()
}

#[test]
fn a_run_is_held_until_given_back_and_busy_is_no_error() {
    let (_parent, folder) = folder();
    assert_eq!(folder.holder(SILENCE).unwrap(), None);
    let run = claim(&folder);
    let holder = folder.holder(SILENCE).unwrap().unwrap();
    assert_eq!(holder.process, std::process::id());
    let second = ClaimedRun::claim(&folder, &spec(), &mut Watch::default(), SILENCE).unwrap();
    assert_eq!(second.unwrap_err().unwrap().process, std::process::id());
    drop(run);
    assert_eq!(folder.holder(SILENCE).unwrap(), None);
    assert_eq!(claim(&folder).lease().generation(), 2);
}

#[test]
fn of_many_takers_at_once_one_wins() {
    for _ in 0..20 {
        let (_parent, folder) = folder();
        let takers: Vec<_> = (0..8)
            .map(|_| {
                let folder = folder.clone();
                std::thread::spawn(move || try_claim(&folder, &mut Watch::default(), SILENCE))
            })
            .collect();
        let taken: Vec<_> = takers.into_iter().filter_map(|taker| taker.join().unwrap()).collect();
        assert_eq!(taken.len(), 1);
    }
}

#[test]
fn a_list_changes_nothing_and_a_taker_makes_what_is_missing() {
    let (_parent, folder) = folder();
    fs::remove_dir(folder.file("free-0000")).unwrap();
    fs::write(folder.file("provenance-0007.json"), "{}").unwrap();
    let before = names(folder.path());
    assert_eq!(folder.holder(SILENCE).unwrap(), None);
    folder.snapshot(&spec(), SILENCE);
    assert_eq!(names(folder.path()), before);
    // The new lease must not overwrite earlier sessions' records.
    assert_eq!(claim(&folder).lease().generation(), 8);
}

#[test]
fn of_many_takers_that_find_no_state_one_wins() {
    for round in 0..12 {
        let (_parent, folder) = folder();
        fs::remove_dir(folder.file("free-0000")).unwrap();
        let holders = Arc::new(AtomicUsize::new(0));
        let takers: Vec<_> = (0..6)
            .map(|taker| {
                let (folder, holders) = (folder.clone(), holders.clone());
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_micros(700 * taker * round));
                    let mut taken = 0;
                    // Takers that come late continue, so that the state changes for others.
                    for _ in 0..40 {
                        if let Some(run) = try_claim(&folder, &mut Watch::default(), SILENCE) {
                            assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0, "two hold it");
                            std::thread::sleep(Duration::from_millis(1));
                            assert!(!run.lease().is_lost());
                            holders.fetch_sub(1, Ordering::SeqCst);
                            taken += 1;
                        }
                    }
                    taken
                })
            })
            .collect();
        let taken: usize = takers.into_iter().map(|taker| taker.join().unwrap()).sum();
        assert!(taken > 0, "nobody could take it");
    }
}

#[test]
fn a_number_that_no_lease_comes_to_is_an_error() {
    for name in ["free-4294967295", "lease-4294967295"] {
        let (_parent, folder) = folder();
        fs::rename(folder.file("free-0000"), folder.file(name)).unwrap();
        let claimed = ClaimedRun::claim(&folder, &spec(), &mut Watch::default(), Duration::ZERO);
        let error = claimed.unwrap_err().to_string();
        assert!(error.contains("4294967295"), "{error}");
    }
}

#[test]
fn a_silent_worker_of_another_host_loses_its_run_and_a_living_one_does_not() {
    let (_parent, folder) = folder();
    let lease = held_elsewhere(&folder);
    let silence = Duration::from_millis(150);
    let mut watch = Watch::default();
    for beat in 0..5 {
        assert!(try_claim(&folder, &mut watch, silence).is_none(), "it shows signs of life");
        std::thread::sleep(silence / 2);
        let text = fs::read_to_string(lease.join("holder.json")).unwrap();
        let next = text.replace(&format!("\"beat\":{beat}"), &format!("\"beat\":{}", beat + 1));
        fs::write(lease.join("holder.json"), next).unwrap();
    }
    assert!(try_claim(&folder, &mut watch, silence).is_none());
    std::thread::sleep(silence);
    let run = try_claim(&folder, &mut watch, silence).expect("it has been silent for long enough");
    assert_eq!(run.lease().generation(), 2);
}

#[test]
fn of_many_takers_of_a_silent_lease_one_wins() {
    let (_parent, folder) = folder();
    held_elsewhere(&folder);
    let silence = Duration::from_millis(50);
    let takers: Vec<_> = (0..6)
        .map(|_| {
            let folder = folder.clone();
            std::thread::spawn(move || {
                let mut watch = Watch::default();
                let mut claim = || try_claim(&folder, &mut watch, silence);
                claim().or_else(|| {
                    std::thread::sleep(silence * 2);
                    claim()
                })
            })
        })
        .collect();
    let taken: Vec<_> = takers.into_iter().filter_map(|taker| taker.join().unwrap()).collect();
    assert_eq!(taken.len(), 1);
}

#[test]
fn a_worker_that_lost_its_run_writes_nothing() {
    let (_parent, folder) = folder();
    let run = claim(&folder);
    run.commit_checkpoint(1, &epochs(1), write_model("one")).unwrap();
    // This is what a takeover by another host does.
    fs::rename(folder.file("lease-0001"), folder.file("lease-0002")).unwrap();
    let before = names(folder.path());
    let lost = |result: crate::Result<()>| {
        assert!(matches!(result, Err(Error::LeaseLost { .. })), "{result:?}");
    };
    lost(run.commit_checkpoint(2, &epochs(2), write_model("two")));
    lost(run.commit_files(2, &epochs(2), &[("model.bpk", b"two")]));
    lost(run.set_status(RunStatus::Running, 7.0));
    lost(run.publish_metrics(&epochs(2)).map(drop));
    lost(run.set_file("model.bpk", b"weights"));
    lost(run.clear_checkpoints());
    run.set_progress(&Progress {
        epoch: 2,
        phase: Phase::Train,
        done: 0,
        total: 1,
        batch_loss: None,
    });
    assert!(run.lease().is_lost());
    drop(run);
    assert_eq!(names(folder.path()), before);
    let (checkpoint, damaged) = folder.checkpoint().unwrap();
    assert_eq!((checkpoint.unwrap().epoch, damaged.len()), (1, 0));
}

#[test]
fn the_heartbeat_notices_that_the_run_is_lost() {
    let (_parent, folder) = folder();
    let silence = Duration::from_millis(60);
    let run = try_claim(&folder, &mut Watch::default(), silence).unwrap();
    let beat = || folder.holder(silence).unwrap().unwrap().beat;
    let (first, start) = (beat(), std::time::Instant::now());
    while beat() == first {
        assert!(start.elapsed() < Duration::from_secs(20), "no heartbeat");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!run.lease().is_marked_lost());
    fs::rename(folder.file("lease-0001"), folder.file("lease-0002")).unwrap();
    while !run.lease().is_marked_lost() {
        assert!(start.elapsed() < Duration::from_secs(20), "not noticed");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_a_dead_worker_left_half_done_is_gone_and_its_last_words_are_kept() {
    let (_parent, folder) = folder();
    let lease = held_elsewhere(&folder);
    fs::create_dir(lease.join("7-checkpoint")).unwrap();
    fs::write(lease.join("7-checkpoint/model.bpk"), "half").unwrap();
    fs::write(lease.join("worker.log"), "memory allocation failed\n").unwrap();
    let mut watch = Watch::default();
    assert!(try_claim(&folder, &mut watch, Duration::ZERO).is_some());
    assert_eq!(
        fs::read_to_string(folder.file("worker.log")).unwrap(),
        "memory allocation failed\n"
    );
    assert_eq!(folder.provenance().unwrap(), [], "there was no session to record");
    assert_eq!(names(&folder.file("free-0002")), [""; 0]);
}

#[test]
fn deaths_without_progress_are_counted_until_somebody_takes_the_run_up_again() {
    let (_parent, folder) = folder();
    let here = Environment::of_this_machine();
    let mut watch = Watch::default();
    for deaths in 0..4 {
        // The long silence shows that a dead process of this host needs no wait.
        let run = try_claim(&folder, &mut watch, Duration::from_secs(600)).unwrap();
        assert_eq!(run.deaths_in_this_epoch().unwrap().len(), deaths);
        run.begin_session(&here, 0).unwrap();
        examples::die(run);
    }
    let run = try_claim(&folder, &mut watch, SILENCE).unwrap();
    assert_eq!(run.deaths_in_this_epoch().unwrap().len(), 4);
    run.reset_deaths().unwrap();
    assert_eq!(run.deaths_in_this_epoch().unwrap(), []);
}
