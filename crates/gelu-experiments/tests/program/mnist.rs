//! Tests from real MNIST files to a result; skipped with a message if the files are missing.

use crate::support::document::Document;
use crate::support::{Sandbox, small};
use gelu_experiments::data::{idx, mnist};
use std::path::{Path, PathBuf};

/// Returns the folder of MNIST: in `$GELU_TEST_DATA`, or in `shared/data` next to the repository.
fn mnist_folder() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("GELU_TEST_DATA").map_or(beside, PathBuf::from);
    let folder = data.join("mnist");
    if mnist::is_present(&folder) {
        return folder.canonicalize().ok();
    }
    eprintln!("skipped: no MNIST in {} (set GELU_TEST_DATA)", folder.display());
    None
}

#[test]
fn real_mnist_is_recognised_as_the_canonical_one() {
    let Some(folder) = mnist_folder() else { return };
    let sandbox = Sandbox::new();
    let folder_name = folder.to_str().unwrap();
    let text = sandbox.run(&["data", "info", "mnist", "--data", folder_name]).success();
    assert_eq!(text.matches("canonical MNIST").count(), 4, "{text}");
    assert!(text.contains("60000 training and 10000 test images of 28×28 pixels"), "{text}");
    assert!(!text.contains("SYNTHETIC"), "{text}");
    let first = idx::read_labels(&mnist::FILES[1].find(&folder).unwrap(), 10).unwrap();
    assert_eq!(first[..10], [5, 0, 4, 1, 9, 2, 1, 3, 1, 4], "the labels everybody knows");
}

#[test]
fn a_classifier_learns_real_mnist() {
    let Some(folder) = mnist_folder() else { return };
    let sandbox = Sandbox::new();
    let mut arguments =
        small("gelu", "3", &["--dropout", "0", "--learning-rates", "1e-3", "--json"]);
    arguments.insert(1, "mnist-classifier");
    arguments.extend(["--data", folder.to_str().unwrap()]);
    let limit = arguments.iter().position(|a| *a == "600").unwrap();
    arguments[limit] = "5000";
    let document: Document = serde_json::from_str(&sandbox.run(&arguments).success()).unwrap();
    assert!(!document.data.synthetic);
    let last = document.runs[0].epochs.last().unwrap();
    // Guessing has an error of nine in ten; three epochs of 5,000 images reach less than 15%.
    assert!(last.test_error < Some(0.15), "{last:?}");
}
