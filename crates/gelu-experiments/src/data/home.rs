use std::path::PathBuf;

/// Returns the folder of fetched data sets: `$GELU_DATA`, otherwise `gelu` in the user's data folder, or `data` in
/// the current folder if the user has no data folder.
pub fn data_home() -> PathBuf {
    match std::env::var_os("GELU_DATA").filter(|value| !value.is_empty()) {
        Some(folder) => folder.into(),
        None => dirs::data_dir().map_or_else(|| "data".into(), |folder| folder.join("gelu")),
    }
}
