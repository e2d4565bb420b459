use super::*;
use std::sync::Barrier;
use std::sync::atomic::AtomicUsize;

/// No worker of another host is meant, so no time matters.
const SILENCE: Duration = Duration::from_secs(600);

/// On Windows no lock is made in it.
#[cfg(unix)]
#[test]
fn a_folder_is_removed_while_somebody_makes_files_in_it() {
    let parent = tempfile::tempdir().unwrap();
    for round in 0..20 {
        let folder = parent.path().join(format!("lease-{round}"));
        fs::create_dir(&folder).unwrap();
        let file = folder.join("lock-0001");
        let others: Vec<_> = (0..2)
            .map(|_| {
                let file = file.clone();
                std::thread::spawn(move || while File::create(&file).is_ok() {})
            })
            .collect();
        while !file.exists() {
            std::thread::yield_now();
        }
        remove(&folder).unwrap();
        others.into_iter().for_each(|other| other.join().unwrap());
        assert!(!folder.exists());
    }
}

#[test]
fn a_state_that_is_restored_too_late_gives_nobody_a_second_lease() {
    // It matters while the first lease is taken, so each round is another folder.
    for _ in 0..40 {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path();
        let (holders, done) = (AtomicUsize::new(0), AtomicBool::new(false));
        let start = Barrier::new(3);
        let claim = || match Lease::claim(folder, &mut Watch::default(), SILENCE).unwrap() {
            Claim::Held(lease, _) => Some(lease),
            Claim::Busy(_) => None,
        };
        let take = || {
            start.wait();
            for _ in 0..20 {
                let Some(lease) = claim() else { continue };
                assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0, "two hold it");
                std::thread::yield_now();
                assert!(!lease.is_lost());
                holders.fetch_sub(1, Ordering::SeqCst);
            }
        };
        // What a process does that saw no state before others restored and took one.
        let restore = || {
            while !done.load(Ordering::SeqCst) {
                let _ = create_state(folder);
            }
        };
        let ends: Vec<_> = std::thread::scope(|threads| {
            let takers: Vec<_> = (0..3).map(|_| threads.spawn(take)).collect();
            threads.spawn(restore);
            let ends = takers.into_iter().map(|taker| taker.join()).collect();
            done.store(true, Ordering::SeqCst);
            ends
        });
        ends.into_iter().for_each(|end| end.unwrap());

        // What is left of it is scratch of the next holder.
        let lease = claim().unwrap();
        let state = State { generation: lease.generation, held: true };
        assert_eq!(State::all(folder).unwrap(), [state]);
        let inside = fs::read_dir(lease.path()).unwrap().count();
        assert_eq!(
            inside,
            if cfg!(windows) { 1 } else { 2 },
            "its holder, and its lock where that is not beside it"
        );
    }
}
