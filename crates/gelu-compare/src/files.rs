//! Reading and writing files. Readers never see a half-written file, no file is read beyond a size limit, and control
//! characters in a file's texts are escaped.

use crate::error::Place;
use crate::names::printable;
use crate::{Error, Result};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

/// The size limit in bytes: the program's files about runs and comparisons are all smaller.
const LARGEST: u64 = 64 << 20;

/// Writes `bytes` to `path` atomically. It writes a temporary file in the same folder, syncs it and renames it, so
/// that an earlier file at `path` stays whole until the new one is complete. The umask determines the file's
/// permissions.
///
/// # Errors
///
/// Returns an error if any step fails; `path` is then untouched.
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
    let persisted = retry_while_in_use(|| {
        let Err(refused) = file.take().expect("it is put back").persist(path) else {
            return Ok(());
        };
        file = Some(refused.file);
        Err(refused.error)
    });
    persisted.map_err(Error::io("replace", path))?;
    #[cfg(any(test, feature = "testing"))]
    steps::note("rename", path);
    sync_folder(folder)
}

/// Renames a file as [`std::fs::rename`] does, with retries on Windows.
///
/// # Errors
///
/// Returns the system's error.
pub fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> std::io::Result<()> {
    retry_while_in_use(|| fs::rename(&from, &to))?;
    #[cfg(any(test, feature = "testing"))]
    steps::note("rename", to.as_ref());
    Ok(())
}

/// Runs `work`. On Windows, retries it for a second, because Windows refuses many operations on a file while another
/// process has it open, such as another worker or a virus scanner.
pub(crate) fn retry_while_in_use<T>(
    mut work: impl FnMut() -> std::io::Result<T>,
) -> std::io::Result<T> {
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

/// Returns the content of a file, or `None` if there is no such file.
///
/// # Errors
///
/// Returns an error if the file cannot be read or is larger than 64 MiB.
pub fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>> {
    let file = match retry_while_in_use(|| File::open(path)) {
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

/// Returns the text of a file, or `None` if there is no such file.
///
/// # Errors
///
/// Returns the errors of [`read_bytes`], and an error if the content is not UTF-8.
pub fn read_text(path: &Path) -> Result<Option<String>> {
    let Some(bytes) = read_bytes(path)? else { return Ok(None) };
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| Error::data(path, Place::File, "is not a text in UTF-8", ""))
}

/// Parses a JSON text. Every string in it becomes one [printable] line, because the file's author may not be
/// trustworthy. Commands, values and paths stay as written, because they have to be exact; the program makes them
/// printable when it displays them.
///
/// # Errors
///
/// Returns an error if the text is not JSON or does not fit the type.
pub(crate) fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    // The text is parsed unchanged first, because then an error knows its line.
    let value = serde_json::from_slice(bytes)?;
    let mut tree = serde_json::from_slice(bytes)?;
    if make_printable(&mut tree) { serde_json::from_value(tree) } else { Ok(value) }
}

/// Parses a TOML text. It treats strings as [`from_json`] does.
///
/// # Errors
///
/// Returns a description of the problem if the text is not TOML or does not fit the type.
pub(crate) fn from_toml<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let value = toml::from_str(text).map_err(|error| problem(&error))?;
    let mut tree = toml::from_str(text).map_err(|error| problem(&error))?;
    match make_printable(&mut tree) {
        true => serde_json::from_value(tree).map_err(|error| problem(&error)),
        false => Ok(value),
    }
}

/// Names of the fields that must stay exactly as written: locations of data, and what programs get.
const AS_WRITTEN: [&str; 6] = ["location", "command", "read", "setting", "values", "baseline"];

/// Makes every string of a tree [`printable`], including the names of fields. Returns whether this changed any.
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

/// The limit, in characters, for a library's explanation. A library may quote a line of any length.
const LONGEST_PROBLEM: usize = 400;

/// Returns a library's description of what is wrong with a file, cut short.
pub fn problem(error: &impl std::fmt::Display) -> String {
    let text = error.to_string();
    let text = text.trim_end();
    match text.char_indices().nth(LONGEST_PROBLEM) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Waits until a file's content is on the disk, if not the times at which it was changed.
///
/// # Errors
///
/// Returns an error if the sync fails, for example because the disk is full.
pub fn sync(file: &File, path: &Path) -> Result<()> {
    sync_data(file, path).map_err(Error::io("sync", path))
}

/// The same with the system's error. `path` is only a name.
pub(crate) fn sync_data(file: &File, path: &Path) -> std::io::Result<()> {
    file.sync_data()?;
    #[cfg(any(test, feature = "testing"))]
    steps::note("sync", path);
    #[cfg(not(any(test, feature = "testing")))]
    let _ = path;
    Ok(())
}

/// Waits until a folder's list of names is on the disk, so that a rename in it survives a power cut. Only Unix can
/// sync a folder; elsewhere it does nothing.
///
/// # Errors
///
/// Returns an error if the folder cannot be opened or synced.
pub fn sync_folder(folder: &Path) -> Result<()> {
    if cfg!(unix) {
        let handle = File::open(folder).map_err(Error::io("open", folder))?;
        handle.sync_all().map_err(Error::io("sync", folder))?;
        #[cfg(any(test, feature = "testing"))]
        steps::note("sync", folder);
    }
    Ok(())
}

/// Removes a folder with its content. Succeeds if there is no such folder.
///
/// # Errors
///
/// Returns an error if something in the folder cannot be removed.
pub(crate) fn remove_folder(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Error::io("remove the folder", path)(error))
        }
        _ => Ok(()),
    }
}

/// Records syncs and renames in order, because a test cannot cut the power.
#[cfg(any(test, feature = "testing"))]
pub(crate) mod steps {
    use std::cell::RefCell;
    use std::path::Path;

    thread_local! {
        /// `None` unless a test records steps.
        static STEPS: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
    }

    pub(crate) fn note(what: &str, path: &Path) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        STEPS.with_borrow_mut(|steps| {
            if let Some(steps) = steps {
                steps.push(format!("{what} {name}"));
            }
        });
    }

    /// Runs `work` and returns the steps it took in this thread.
    pub fn steps(work: impl FnOnce()) -> Vec<String> {
        STEPS.set(Some(Vec::new()));
        work();
        STEPS.take().unwrap_or_default()
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

    #[test]
    fn two_strange_texts_are_as_strange_as_one() {
        for strange in 0..3 {
            let text = |index| if index < strange { "a\u{7}" } else { "a" };
            let list = json!([text(0), text(1)]);
            let (mut list, mut fields) = (list.clone(), json!({ "x": list[0], "y": list[1] }));
            assert_eq!(make_printable(&mut list), strange > 0, "{strange}");
            assert_eq!(make_printable(&mut fields), strange > 0, "{strange}");
            for shown in list.as_array().unwrap().iter().chain(fields.as_object().unwrap().values())
            {
                assert!(!shown.as_str().unwrap().contains('\u{7}'), "{shown}");
            }
        }
    }
}
