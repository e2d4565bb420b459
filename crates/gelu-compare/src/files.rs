//! Reading and writing files: a reader never sees half of one, a file is never read beyond a sane size,
//! and what a file says is made harmless before anybody hears of it.

use crate::error::Place;
use crate::names::printable;
use crate::{Error, Result};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

/// No file that this program keeps about a run or a comparison is larger.
const LARGEST: u64 = 64 << 20;

/// Writes `bytes` to `path`: under a temporary name beside it, synced, then renamed, so that
/// whatever stood there before stays whole until the new content is complete. The file gets the
/// permissions that the umask leaves it.
///
/// # Errors
///
/// When any step is refused; `path` is then untouched.
pub fn write_atomically(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".writing-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder).map_err(Error::io("create a file in", folder))?;
    file.write_all(bytes.as_ref()).map_err(Error::io("write", path))?;
    sync(file.as_file(), path)?;
    let mut file = Some(file);
    let persisted = once_free(|| {
        let Err(refused) = file.take().expect("it is put back").persist(path) else {
            return Ok(());
        };
        file = Some(refused.file);
        Err(refused.error)
    });
    persisted.map_err(Error::io("replace", path))?;
    #[cfg(test)]
    steps::note("rename", path);
    sync_folder(folder)
}

/// As [`std::fs::rename`], [once it may be done](once_free).
pub(crate) fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> std::io::Result<()> {
    once_free(|| fs::rename(&from, &to))?;
    #[cfg(test)]
    steps::note("rename", to.as_ref());
    Ok(())
}

/// Does something with a file. Windows refuses much of that while somebody else has it open, a worker beside this one
/// or a virus scanner, so there it is tried for a second.
pub(crate) fn once_free<T>(mut work: impl FnMut() -> std::io::Result<T>) -> std::io::Result<T> {
    const SHARING_VIOLATION: i32 = 32;
    let is_in_use = |error: &std::io::Error| {
        error.kind() == ErrorKind::PermissionDenied
            || error.raw_os_error() == Some(SHARING_VIOLATION)
    };
    let mut further = if cfg!(windows) { 100 } else { 0 };
    loop {
        match work() {
            Err(error) if further > 0 && is_in_use(&error) => {
                further -= 1;
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            done => return done,
        }
    }
}

/// The content of a file; `None` where there is none.
///
/// # Errors
///
/// When it cannot be read, or is larger than any file of its kind.
pub fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>> {
    let file = match once_free(|| File::open(path)) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("read", path)(error)),
    };
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(Error::io("read", path))?;
    if bytes.len() as u64 > LARGEST {
        let problem = format!("is larger than {} MiB", LARGEST >> 20);
        return Err(Error::data(path, Place::File, problem, "it is none of this program's files"));
    }
    Ok(Some(bytes))
}

/// The text of a file; `None` where there is none.
///
/// # Errors
///
/// As [`read_bytes`], and when it is not UTF-8.
pub fn read_text(path: &Path) -> Result<Option<String>> {
    let Some(bytes) = read_bytes(path)? else { return Ok(None) };
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| Error::data(path, Place::File, "is not a text in UTF-8", ""))
}

/// The value of a JSON text. Every string in it becomes one [printable] line, since whoever wrote the file may be
/// anybody; but for commands, values and paths, which have to be what they are, and are displayed as such a line.
///
/// # Errors
///
/// When it is not JSON, or not that of such a value.
pub fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    // As it stands first: an error then knows its line.
    let value = serde_json::from_slice(bytes)?;
    let mut tree = serde_json::from_slice(bytes)?;
    if make_printable(&mut tree) { serde_json::from_value(tree) } else { Ok(value) }
}

/// The value of a TOML text, its strings as those of [`from_json`].
///
/// # Errors
///
/// What is wrong where it is not TOML, or not that of such a value.
pub fn from_toml<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let value = toml::from_str(text).map_err(|error| problem(&error))?;
    let mut tree = toml::from_str(text).map_err(|error| problem(&error))?;
    match make_printable(&mut tree) {
        true => serde_json::from_value(tree).map_err(|error| problem(&error)),
        false => Ok(value),
    }
}

/// What is no text for people but has to be what it is: where data is, and what a program gets.
const AS_WRITTEN: [&str; 6] = ["location", "command", "read", "setting", "values", "baseline"];

/// Makes every string of a tree [`printable`], the names of fields too; whether one was not.
fn make_printable(tree: &mut Value) -> bool {
    match tree {
        Value::String(text) => {
            let shown = printable(text);
            let differs = shown != *text;
            *text = shown;
            differs
        }
        Value::Array(items) => items.iter_mut().fold(false, |any, item| make_printable(item) | any),
        Value::Object(fields) => {
            let strange = fields.keys().any(|key| printable(key) != *key);
            if strange {
                let all = std::mem::take(fields).into_iter();
                *fields = all.map(|(key, value)| (printable(&key), value)).collect();
            }
            let values = fields.iter_mut().filter(|(key, _)| !AS_WRITTEN.contains(&key.as_str()));
            values.fold(strange, |any, (_, value)| make_printable(value) | any)
        }
        _ => false,
    }
}

/// No explanation needs more characters, but a library may repeat a line of any length.
const LONGEST_PROBLEM: usize = 400;

/// What a library says is wrong with a file, cut short.
pub fn problem(error: &impl std::fmt::Display) -> String {
    let text = error.to_string();
    let text = text.trim_end();
    match text.char_indices().nth(LONGEST_PROBLEM) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Waits until a file's content is on the disk.
///
/// # Errors
///
/// When the disk refuses it, a full one for example.
pub fn sync(file: &File, path: &Path) -> Result<()> {
    file.sync_all().map_err(Error::io("sync", path))?;
    #[cfg(test)]
    steps::note("sync", path);
    Ok(())
}

/// Waits until a folder's list of names is on the disk, so that a rename in it survives a power
/// cut. Only Unix lets a folder be synced; elsewhere the rename itself has to do.
///
/// # Errors
///
/// When the folder cannot be opened or synced.
pub fn sync_folder(folder: &Path) -> Result<()> {
    if cfg!(unix) {
        let handle = File::open(folder).map_err(Error::io("open", folder))?;
        sync(&handle, folder)?;
    }
    Ok(())
}

/// Removes a folder with all it holds; that there is none is as good.
///
/// # Errors
///
/// When something in it cannot be removed.
pub fn remove_folder(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Error::io("remove the folder", path)(error))
        }
        _ => Ok(()),
    }
}

/// What was synced and renamed, in order: no test can cut the power.
#[cfg(test)]
pub(crate) mod steps {
    use std::cell::RefCell;
    use std::path::Path;

    thread_local! {
        static STEPS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }

    pub(super) fn note(what: &str, path: &Path) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        STEPS.with_borrow_mut(|steps| steps.push(format!("{what} {name}")));
    }

    /// The steps of some work in this thread.
    pub(crate) fn steps(work: impl FnOnce()) -> Vec<String> {
        STEPS.take();
        work();
        STEPS.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn replaces_the_content_and_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("status.json");
        write_atomically(&path, "old").unwrap();
        write_atomically(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_content_is_on_the_disk_before_its_name_and_that_before_it_returns() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("folder");
        fs::create_dir(&folder).unwrap();
        let steps = steps::steps(|| write_atomically(&folder.join("file"), "text").unwrap());
        let all = ["sync file", "rename file", "sync folder"];
        assert_eq!(steps, if cfg!(unix) { &all[..] } else { &all[..2] });
    }

    #[test]
    fn missing_folder_is_named_in_the_error() {
        let error = write_atomically(Path::new("/nonexistent-folder/x"), "a").unwrap_err();
        assert!(error.to_string().contains("/nonexistent-folder"), "{error}");
    }

    #[test]
    fn strings_of_a_file_are_one_printable_line_each_but_for_what_has_to_be_what_it_is() {
        let expected = json!({"a": ["x\\u001b[2J", 1.5], "b": {"c": "two\\u000alines"},
            "location": "\u{7}", "setting": {"v": "\t"}, "values": ["a\nb"]});
        let written = r#"{"a": ["x\u001b[2J", 1.5], "b": {"c": "two\nlines"}, "location": "\u0007",
            "setting": {"v": "\t"}, "values": ["a\nb"]}"#;
        assert_eq!(from_json::<Value>(written.as_bytes()).unwrap(), expected);
        let written = "a = ['x\u{9b}', 1.5]\nlocation = \"\\u0007\"\n[b]\nc = \"two\\nlines\"";
        let expected =
            json!({"a": ["x\\u009b", 1.5], "b": {"c": "two\\u000alines"}, "location": "\u{7}"});
        assert_eq!(from_toml::<Value>(written).unwrap(), expected);
        let written = r#"{"\u001b[2J": {"\u202e": 1}}"#;
        let expected = json!({"\\u001b[2J": {"\\u202e": 1}});
        assert_eq!(from_json::<Value>(written.as_bytes()).unwrap(), expected);
        let numbers = json!({"whole": u64::MAX, "negative": -3, "share": 0.1, "none": null});
        assert_eq!(from_json::<Value>(numbers.to_string().as_bytes()).unwrap(), numbers);
    }

    #[test]
    fn a_problem_is_named_with_its_line_and_no_longer_than_it_takes() {
        let error = from_json::<Vec<u8>>(b"[1,\n\"x\"]").unwrap_err();
        assert_eq!(error.line(), 2);
        let error =
            from_toml::<Value>(&format!("a = 1\nb = '{}", "x".repeat(1 << 20))).unwrap_err();
        assert!(error.contains("line 2") && error.chars().count() < 500, "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn files_have_the_permissions_that_the_umask_leaves() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mode = |name: &str| {
            fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777
        };
        fs::write(folder.path().join("plain"), "as the umask says").unwrap();
        write_atomically(&folder.path().join("atomic"), "the same").unwrap();
        assert_eq!(mode("atomic"), mode("plain"));
    }

    #[test]
    fn a_file_of_absurd_size_is_not_read_into_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("status.json");
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        let error = read_bytes(&path).unwrap_err().to_string();
        assert!(error.contains("larger than 64 MiB"), "{error}");
        assert_eq!(read_bytes(&folder.path().join("none")).unwrap(), None);
    }
}
