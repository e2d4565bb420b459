//! Prepared data: what takes long to make from files or from nothing (drawn digits, decoded pictures,
//! coefficients of recordings, a whitening) is made once and kept for every later process.
//!
//! A prepared thing is one safetensors file in the [cache](folder), named by a digest of everything it
//! was made from, the bytes of the files among it. It carries a checksum of its own; one that does
//! not hold is made anew. The folder may be deleted at any time, and need not be writable.

mod key;
mod sets;
mod store;

pub use key::{Key, folder};
pub use store::{Array, Arrays, Prepared};

use std::fs::{self, File};
use std::path::Path;

/// The thing of that key: read, where it was made before, else made and kept.
///
/// Of several processes that want one thing at once, one makes it and the others wait for it.
///
/// # Errors
///
/// Those of `make`. A cache that cannot be read or written is no error: it only saves time.
pub fn prepared<T: Prepared, E>(key: &Key, make: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    match folder() {
        Some(folder) => prepared_in(&folder, key, make),
        None => make(),
    }
}

fn prepared_in<T: Prepared, E>(
    folder: &Path,
    key: &Key,
    make: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let path = folder.join(key.file_name());
    if let Some(found) = store::read(&path) {
        return Ok(found);
    }
    let _guard = wait_for_others(folder, key);
    if let Some(found) = store::read(&path) {
        return Ok(found);
    }
    let made = make()?;
    // A full disk or a read-only home costs the time of making it again, no more.
    let _ = store::write(&path, &made);
    Ok(made)
}

/// Held by who makes a thing; the lock of a process that dies is released by the kernel. Nothing
/// where files cannot be locked: then everybody makes it, and the last one's file stays.
fn wait_for_others(folder: &Path, key: &Key) -> Option<File> {
    fs::create_dir_all(folder).ok()?;
    let guard = File::create(folder.join(format!("{}.lock", key.file_name()))).ok()?;
    guard.lock().ok()?;
    Some(guard)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{ImageSet, digits};
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
    fn cache_that_cannot_be_written_costs_nothing_but_time() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let set = prepared_in(&file.path().join("below"), &key(), || {
            Ok::<ImageSet, Infallible>(digits::generate(2, 1))
        });
        assert_eq!(set.unwrap(), digits::generate(2, 1));
    }
}
