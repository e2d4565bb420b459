//! The cache of prepared data. Data that take long to compute (drawn digits, decoded images, coefficients of
//! recordings, a whitening) are computed once and saved for later processes.
//!
//! Each entry is one file in the [cache](folder), in MessagePack after a checksum. Its name is a digest of everything
//! that the data depend on, including the bytes of source files. If the checksum does not match, the data are
//! computed again. You may delete the folder at any time, and it need not be writable.

mod key;
pub(crate) mod store;

pub use key::{Key, folder};

use crate::Error;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Returns the data of `key`: from the cache if they are there, otherwise from `make`, and then saves them.
///
/// If several processes need the same data at once, one computes them and the others wait.
///
/// # Errors
///
/// If `make` fails. A cache that cannot be read or written is not an error; it only saves time.
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
    // If writing fails (full disk, read-only home), later processes only lose time.
    let _ = store::write(&path, &made);
    drop(guard);
    Ok(made)
}

/// A lock that is held while data are computed, so that other processes wait for them. If the process dies, the
/// kernel releases the lock. Dropping the guard deletes the lock file.
struct Guard {
    path: PathBuf,
    _lock: File,
}

impl Guard {
    /// Waits for the lock. Returns `None` if files cannot be locked: then every process computes the data, and the
    /// file of the last one stays.
    fn wait(folder: &Path, key: &Key) -> Option<Self> {
        fs::create_dir_all(folder).ok()?;
        let path = folder.join(format!("{}{LOCK}", key.file_name()));
        // Another user's lock file may be readable, and that is enough for locking it.
        let lock = File::create(&path).or_else(|_| File::open(&path)).ok()?;
        lock.lock().ok()?;
        Some(Self { path, _lock: lock })
    }
}

impl Drop for Guard {
    /// A process that waits for this lock, or comes later and finds no lock, then finds the data or computes them.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

const LOCK: &str = ".lock";

/// A file of the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredData {
    /// The path of the file.
    pub path: PathBuf,
    /// The length in bytes.
    pub bytes: u64,
}

/// Returns the cached files in a folder, and the locks of killed processes, by name. This program does not touch
/// other files there.
///
/// # Errors
///
/// If the folder exists and cannot be listed.
pub fn kept(folder: &Path) -> Result<Vec<StoredData>, Error> {
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
        // Another process may have removed the file meanwhile.
        if let Ok(metadata) = entry.metadata() {
            files.push(StoredData { path: entry.path(), bytes: metadata.len() });
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
        // Files that do not belong to the cache are not listed; an abandoned lock is.
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
