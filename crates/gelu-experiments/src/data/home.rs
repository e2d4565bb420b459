use std::path::PathBuf;

/// The folder that fetched data sets are kept in: `$GELU_DATA`, or `gelu` in the user's data
/// folder, or `data` here where there is no such thing.
pub fn data_home() -> PathBuf {
    match std::env::var_os("GELU_DATA").filter(|value| !value.is_empty()) {
        Some(folder) => folder.into(),
        None => dirs::data_dir().map_or_else(|| "data".into(), |folder| folder.join("gelu")),
    }
}
