use super::*;
use crate::files::steps::steps;
use std::sync::Barrier;
use std::sync::atomic::AtomicUsize;

/// Long, because these tests have no workers of other hosts.
const SILENCE: Duration = Duration::from_secs(600);

/// On Windows the lock is not in the folder.
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
    // The race is at the first lease, so each round needs another folder.
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
        // Acts like a process that saw no state before others restored and took one.
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

        // The next holder clears what is left of it.
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

fn claimed(folder: &Path, watch: &mut Watch) -> Option<(Lease, PreviousLease)> {
    match Lease::claim(folder, watch, SILENCE).unwrap() {
        Claim::Held(lease, before) => Some((lease, before)),
        Claim::Busy(_) => None,
    }
}

/// On Windows, the process that was about to take the lease cannot be read.
#[cfg(unix)]
#[test]
fn a_lease_whose_taker_died_between_two_steps_is_taken_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (lease, _) = claimed(folder.path(), &mut Watch::default()).unwrap();
    let (free, held) = (folder.path().join("free-0001"), folder.path().join("lease-0002"));
    drop(lease);
    // The state after a process of this host died between taking the lease and naming itself as the holder.
    let taker = Holder { host: host::name(), identity: host::identity(), process: 1, beat: 0 };
    let lock = lock(&free, 2, &to_json(&taker)).ok().unwrap();
    fs::rename(&free, &held).unwrap();
    assert!(claimed(folder.path(), &mut Watch::default()).is_none(), "it lives");
    assert_eq!(holder(folder.path(), SILENCE).unwrap(), Some(taker));
    drop(lock);
    let (lease, before) = claimed(folder.path(), &mut Watch::default()).unwrap();
    assert_eq!((lease.generation(), before), (3, PreviousLease::Died));
    drop(lease);
    // The same state left by another host, where this host cannot know.
    let (free, held) = (folder.path().join("free-0003"), folder.path().join("lease-0004"));
    let elsewhere =
        Holder { identity: "elsewhere".to_owned(), host: host::name(), process: 1, beat: 0 };
    drop(self::lock(&free, 4, &to_json(&elsewhere)).ok().unwrap());
    fs::rename(&free, &held).unwrap();
    assert!(claimed(folder.path(), &mut Watch::default()).is_none());
}

#[test]
fn a_holder_shows_several_signs_of_life_in_a_lease() {
    let folder = tempfile::tempdir().unwrap();
    let silence = Duration::from_millis(400);
    let began = std::time::Instant::now();
    let Claim::Held(lease, _) =
        Lease::claim(folder.path(), &mut Watch::default(), silence).unwrap()
    else {
        panic!("nobody holds it")
    };
    let beat = || read_holder(&lease.path(), lease.generation()).unwrap().map(|holder| holder.beat);
    // Five silences leave a busy machine time for six beats, but not for beats that are a silence apart.
    while beat() < Some(6) {
        std::thread::sleep(silence / 50);
        assert!(began.elapsed() < 5 * silence, "others would have taken the run: {:?}", beat());
    }
}

#[test]
fn what_has_to_survive_a_power_cut_is_on_the_disk_before_it_has_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let (lease, _) = claimed(folder.path(), &mut Watch::default()).unwrap();
    let place = |durable| {
        let target = folder.path().join("status.json");
        steps(|| lease.place("scratch", &target, "{}", durable).unwrap())
    };
    let name = folder.path().file_name().unwrap().to_string_lossy();
    let folder = format!("sync {name}");
    let (content, renamed) = ("sync status.json".to_owned(), "rename status.json".to_owned());
    let all = [content.clone(), renamed.clone(), folder];
    assert_eq!(place(Durable::Yes), if cfg!(unix) { &all[..] } else { &all[..2] });
    assert_eq!(place(Durable::Content), [content, renamed.clone()]);
    assert_eq!(place(Durable::No), [renamed]);
}
