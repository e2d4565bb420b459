//! Prepared data: what takes long to make from files or from nothing (drawn digits, decoded pictures,
//! coefficients of recordings, a whitening) is made once and kept for every later process.
//!
//! A prepared thing is one file in the [cache](folder), in MessagePack behind a checksum, and named by a digest of
//! everything it was made from, which includes the bytes of the files. If the checksum does not match, the thing is
//! made again. You may delete the folder at any time, and it need not be writable.

mod key;
pub(crate) mod store;

pub use key::{Key, folder};

use crate::Error;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The thing of that key: read, where it was made before, else made and kept.
///
/// Of several processes that want one thing at once, one makes it and the others wait for it.
///
/// # Errors
///
/// Those of `make`. A cache that cannot be read or written is no error: it only saves time.
pub fn prepared<T: Serialize + DeserializeOwned, E>(
    key: &Key,
    make: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    match folder() {
        Some(folder) => prepared_in(&folder, key, make),
        None => make(),
    }
}

fn prepared_in<T: Serialize + DeserializeOwned, E>(
    folder: &Path,
    key: &Key,
    make: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let path = folder.join(key.file_name());
    if let Some(found) = store::read(&path) {
        return Ok(found);
    }
    let guard = Guard::wait(folder, key);
    if let Some(found) = store::read(&path) {
        return Ok(found);
    }
    let made = make()?;
    // A full disk or a read-only home costs the time of making it again, no more.
    let _ = store::write(&path, &made);
    drop(guard);
    Ok(made)
}

/// Held while a thing is made, so that others wait for it; the lock of a process that dies is released by the
/// kernel. The lock's file goes with it.
struct Guard {
    path: PathBuf,
    _lock: File,
}

impl Guard {
    /// Nothing where files cannot be locked: then everybody makes the thing, and the last one's file stays.
    fn wait(folder: &Path, key: &Key) -> Option<Self> {
        fs::create_dir_all(folder).ok()?;
        let path = folder.join(format!("{}{LOCK}", key.file_name()));
        // That of another user may be read, and so locked.
        let lock = File::create(&path).or_else(|_| File::open(&path)).ok()?;
        lock.lock().ok()?;
        Some(Self { path, _lock: lock })
    }
}

impl Drop for Guard {
    /// Who waits for this lock finds the thing, or makes it, as does who comes later and finds no lock.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

const LOCK: &str = ".lock";

/// A file of the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Where it is.
    pub path: PathBuf,
    /// Its length in bytes.
    pub bytes: u64,
}

/// The files of prepared things in a folder, and locks that a killed process has left, by name. Nothing else
/// in the folder is touched by this program.
///
/// # Errors
///
/// When the folder is there and cannot be listed.
pub fn kept(folder: &Path) -> Result<Vec<Kept>, Error> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(Error::io("list", folder))?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(Error::io("list", folder))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !key::is_file_name(name.strip_suffix(LOCK).unwrap_or(&name)) {
            continue;
        }
        // One that another process has just removed is not there any more.
        if let Ok(metadata) = entry.metadata() {
            files.push(Kept { path: entry.path(), bytes: metadata.len() });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{DataSource, ImageSet, WindowSet, Windows, digits};
    use std::cell::Cell;
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn key() -> Key {
        Key::new("digits", 1).with(&8u64.to_le_bytes())
    }

    #[test]
    fn a_thing_is_made_once_and_read_back_equal() {
        let cache = tempfile::tempdir().unwrap();
        let made = Cell::new(0);
        let get = || {
            prepared_in(cache.path(), &key(), || {
                made.set(made.get() + 1);
                Ok::<ImageSet, Infallible>(digits::generate(5, 3))
            })
            .unwrap()
        };
        assert_eq!((get(), get(), made.get()), (digits::generate(5, 3), digits::generate(5, 3), 1));
    }

    #[test]
    fn windows_and_their_groups_are_read_back_equal() {
        let part = |first: f32| {
            let table: Vec<f32> = (0..8).map(|v| first + v as f32 / 3.0).collect();
            let mut windows = Windows::new(table.into(), 2, 3).unwrap();
            windows.push_group(&[0, 0, 1, 0, 1, 2], &[5, 6]);
            windows.push_group(&[], &[]);
            windows.push_group(&[3, 2, 1], &[7]);
            windows
        };
        let set = WindowSet {
            train: part(0.1),
            validation: part(-7.7),
            test: part(f32::MIN_POSITIVE),
            classes: 9,
            source: DataSource::new("x", Some("somewhere".into()), true, ["content"]),
            names: vec!["a class".to_owned(); 9],
            reader: None,
        };
        let cache = tempfile::tempdir().unwrap();
        let key = Key::new("windows", 1);
        let get = |made: Option<WindowSet>| {
            prepared_in(cache.path(), &key, || Ok::<_, Infallible>(made.unwrap())).unwrap()
        };
        assert_eq!(get(Some(set.clone())), set);
        let mut set = set;
        set.source.location = None;
        assert_eq!(get(None), set, "all but the place, which is that of its first reader");
    }

    #[test]
    fn another_key_is_another_thing() {
        let names = [key(), key().with(b"x"), Key::new("digits", 2).with(&8u64.to_le_bytes())];
        let names = names.map(|key| key.file_name());
        assert!(names[0] != names[1] && names[0] != names[2]);
        let split =
            [Key::new("a", 1).with(b"bc").with(b"d"), Key::new("a", 1).with(b"b").with(b"cd")];
        assert_ne!(split[0].file_name(), split[1].file_name());
    }

    #[test]
    fn any_damage_is_noticed_and_made_good() {
        let cache = tempfile::tempdir().unwrap();
        let get = |made: &Cell<u32>| {
            prepared_in(cache.path(), &key(), || {
                made.set(made.get() + 1);
                Ok::<ImageSet, Infallible>(digits::generate(2, 2))
            })
            .unwrap()
        };
        get(&Cell::new(0));
        let path = cache.path().join(key().file_name());
        let whole = fs::read(&path).unwrap();
        let step = (whole.len() / 97).max(1);
        for place in (0..whole.len()).step_by(step) {
            let mut damaged = whole.clone();
            damaged[place] ^= 0x10;
            fs::write(&path, &damaged).unwrap();
            let made = Cell::new(0);
            assert_eq!(get(&made), digits::generate(2, 2), "byte {place} turned");
            assert_eq!(made.get(), 1, "byte {place} of {} turned unnoticed", whole.len());
        }
        fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        assert_eq!(get(&Cell::new(0)), digits::generate(2, 2));
    }

    #[test]
    fn of_many_at_once_one_makes_it() {
        let cache = tempfile::tempdir().unwrap();
        let made = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let set = prepared_in(cache.path(), &key(), || {
                        made.fetch_add(1, Ordering::SeqCst);
                        Ok::<ImageSet, Infallible>(digits::generate(20, 5))
                    });
                    assert_eq!(set.unwrap(), digits::generate(20, 5));
                });
            }
        });
        assert_eq!(made.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_cache_holds_what_was_made_and_no_locks() {
        let cache = tempfile::tempdir().unwrap();
        assert_eq!(kept(&cache.path().join("none")).unwrap(), []);
        let make = || {
            prepared_in(cache.path(), &key(), || Ok::<ImageSet, Infallible>(digits::generate(2, 2)))
        };
        make().unwrap();
        let names = || -> Vec<String> {
            let files = kept(cache.path()).unwrap();
            files
                .iter()
                .map(|file| file.path.file_name().unwrap().to_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(names(), [key().file_name()]);
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 1);
        // What is not the cache's stays out of it; a lock that was left behind is its own.
        let lock = format!("{}.lock", Key::new("zca", 1).file_name());
        for name in ["mine.txt", "mine.msgpack", "thesis.lock", &lock] {
            fs::write(cache.path().join(name), "").unwrap();
        }
        assert_eq!(names(), [key().file_name(), lock]);
    }

    #[cfg(unix)]
    #[test]
    fn a_cache_is_shared_as_far_as_the_umask_lets_it() {
        use std::os::unix::fs::PermissionsExt;
        let cache = tempfile::tempdir().unwrap();
        let make = || Ok::<ImageSet, Infallible>(digits::generate(2, 2));
        prepared_in(cache.path(), &key(), make).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let ordinary = cache.path().join("ordinary");
        fs::write(&ordinary, "").unwrap();
        assert_eq!(mode(&cache.path().join(key().file_name())), mode(&ordinary));
    }

    #[test]
    fn cache_that_cannot_be_written_costs_nothing_but_time() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let set = prepared_in(&file.path().join("below"), &key(), || {
            Ok::<ImageSet, Infallible>(digits::generate(2, 1))
        });
        assert_eq!(set.unwrap(), digits::generate(2, 1));
    }
}
