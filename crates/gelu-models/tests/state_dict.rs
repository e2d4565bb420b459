//! Tests of files that cannot be loaded. Each error names the file, the tensor, what was expected and what to do,
//! and leaves the model unchanged.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use burn::module::{Module, Param};
use burn::store::{ModuleSnapshot, ModuleStore, SafetensorsStore, bridge};
use burn::tensor::{DType, Device, Tensor};
use gelu_models::{Mlp, MlpConfig, StateDict, StateDictError, save_state_dict};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn config() -> MlpConfig {
    MlpConfig::new(4, 3).with_depth(1).with_width(2)
}

fn model() -> Mlp {
    config().init(&Device::default())
}

fn save<M: Module>(model: &M, path: &Path) {
    save_state_dict(model, path).unwrap();
}

/// Returns a folder with the weights of [`model`] as PyTorch would save them.
fn saved() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weights.safetensors");
    save(&model(), &path);
    (folder, path)
}

/// Returns the values of all parameters.
fn values<M: Module>(model: &M) -> Vec<f32> {
    let tensors = model.collect(None, None, true).into_iter();
    let data = tensors.map(|tensor| bridge::into_data(tensor).unwrap());
    data.flat_map(|data| data.try_into_vec::<f32>().unwrap()).collect()
}

/// Returns the error of loading this file into this model, after checking that the model's weights did not
/// change.
fn refusal(path: &Path, mut model: Mlp) -> StateDictError {
    let before = values(&model);
    let error = StateDict::open(path).and_then(|weights| weights.load_into(&mut model));
    let error = error.unwrap_err();
    assert!(error.to_string().contains(&path.display().to_string()), "no file in: {error}");
    assert_eq!(values(&model), before);
    error
}

#[test]
fn saved_weights_load_again() {
    let (folder, _) = saved();
    let path = folder.path().join("twin.safetensors");
    let (twin, mut other) = (model(), model());
    save(&twin, &path);
    assert_ne!(values(&twin), values(&other));
    StateDict::open(&path).unwrap().load_into(&mut other).unwrap();
    assert_eq!(values(&twin), values(&other));
}

/// The file has PyTorch's names and layouts of the twin's `nn.Linear(4, 2)` and `nn.Linear(2, 3)`. An existing
/// file is not overwritten.
#[test]
fn a_saved_file_has_pytorchs_names_and_layouts() {
    let (_folder, path) = saved();
    let mut store = SafetensorsStore::from_file(&path);
    let tensors = store.get_all_tensors().unwrap();
    let found: Vec<(&str, Vec<usize>)> =
        tensors.iter().map(|(name, tensor)| (name.as_str(), tensor.shape.to_vec())).collect();
    assert_eq!(
        found,
        [
            ("hidden.0.linear.bias", vec![2]),
            ("hidden.0.linear.weight", vec![2, 4]),
            ("output.bias", vec![3]),
            ("output.weight", vec![3, 2]),
        ]
    );
    let error = save_state_dict(&model(), &path).unwrap_err().to_string();
    assert!(
        error.contains("weights.safetensors") && error.contains("choose another path"),
        "{error}"
    );
}

#[test]
fn weights_in_half_precision_become_the_models_type() {
    let (_folder, path) = saved();
    let mut half = model();
    half = half.map(&mut To(DType::F16));
    let path = path.with_file_name("half.safetensors");
    save(&half, &path);
    let mut other = model();
    StateDict::open(&path).unwrap().load_into(&mut other).unwrap();
    let expected = values(&half.map(&mut To(DType::F32)));
    assert_eq!(values(&other), expected);
}

/// Casts every parameter.
struct To(DType);

impl burn::module::ModuleMapper for To {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, tensor, mapper) = param.consume();
        Param::from_mapped_value(id, tensor.cast(self.0), mapper)
    }
}

#[test]
fn names_can_be_translated_and_left_out() {
    let (_folder, path) = saved();
    let weights = StateDict::open(&path).unwrap();
    let theirs = weights.map_names(|name| Some(format!("module.{name}"))).unwrap();
    assert!(theirs.names().all(|name| name.starts_with("module.")));
    assert!(theirs.clone().load_into(&mut model()).is_err());
    let ours = theirs.map_names(|name| name.strip_prefix("module.").map(str::to_owned)).unwrap();
    ours.load_into(&mut model()).unwrap();
    let partial = ours.map_names(|name| (name != "output.bias").then(|| name.to_owned())).unwrap();
    let error = partial.load_into(&mut model()).unwrap_err();
    assert!(matches!(&error, StateDictError::Missing { name, .. } if name == "output.bias"));
}

#[test]
fn two_tensors_of_one_name_are_refused() {
    let (_folder, path) = saved();
    let weights = StateDict::open(&path).unwrap();
    let error = weights.map_names(|_| Some("weight".to_owned())).unwrap_err().to_string();
    assert!(
        error.contains("`hidden.0.linear.bias` and `hidden.0.linear.weight` were both"),
        "{error}"
    );
}

#[test]
fn missing_tensor_names_shape_and_what_is_there() {
    let (_folder, path) = saved();
    let error = refusal(&path, config().with_depth(2).init(&Device::default())).to_string();
    assert!(error.contains("no tensor `hidden.1.linear.weight` of shape [2, 2]"), "{error}");
    let renamed = |name: &str| Some(name.replace("hidden", "fc"));
    let weights = StateDict::open(&path).unwrap().map_names(renamed).unwrap();
    let error = weights.load_into(&mut model()).unwrap_err().to_string();
    assert!(error.contains("no tensor `hidden.0.linear.weight` of shape [2, 4]"), "{error}");
    assert!(error.contains("besides: fc.0.linear.bias, fc.0.linear.weight"), "{error}");
}

#[test]
fn wrong_shape_names_both_in_pytorchs_layout() {
    let (_folder, path) = saved();
    let error = refusal(&path, config().with_width(5).init(&Device::default()));
    assert!(error.to_string().contains("has shape [2, 4], the model expects [5, 4]"), "{error}");
}

#[test]
fn tensor_without_a_place_is_refused() {
    let (_folder, path) = saved();
    let error = refusal(&path, MlpConfig::new(2, 3).with_depth(0).init(&Device::default()));
    let expected = "no parameter for tensor `hidden.0.linear.bias` of shape [2]";
    assert!(error.to_string().contains(expected), "{error}");
}

/// Writes a safetensors file with this header and these bytes.
fn write(path: &Path, header: &str, data: &[u8]) {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn integers_are_refused_and_the_batch_counter_is_passed_over() {
    let (folder, _) = saved();
    let path = folder.path().join("integers.safetensors");
    let linear = |kind: &str, end: usize| {
        format!(r#""output.weight":{{"dtype":"{kind}","shape":[1,2],"data_offsets":[0,{end}]}}"#)
    };
    let bias = |start: usize| {
        let offsets = format!("[{start},{}]", start + 4);
        format!(r#""output.bias":{{"dtype":"F32","shape":[1],"data_offsets":{offsets}}}"#)
    };
    let counter = |start: usize| {
        let offsets = format!("[{start},{}]", start + 8);
        format!(
            r#""norm.num_batches_tracked":{{"dtype":"I64","shape":[],"data_offsets":{offsets}}}"#
        )
    };
    let tiny = || MlpConfig::new(2, 1).with_depth(0).init(&Device::default());

    write(&path, &format!("{{{},{}}}", linear("I8", 2), bias(2)), &[0; 6]);
    let error = StateDict::open(&path).unwrap().load_into(&mut tiny()).unwrap_err();
    assert!(matches!(&error, StateDictError::Type { name, .. } if name == "output.weight"));
    assert!(error.to_string().contains("holds I8"), "{error}");

    write(&path, &format!("{{{},{},{}}}", linear("F32", 8), bias(8), counter(12)), &[0; 20]);
    StateDict::open(&path).unwrap().load_into(&mut tiny()).unwrap();
}

#[test]
fn files_that_are_no_files_are_refused() {
    let (folder, _) = saved();
    let error = refusal(&folder.path().join("absent.safetensors"), model());
    assert!(matches!(error, StateDictError::Read { .. }));
    let error = refusal(folder.path(), model());
    assert!(matches!(error, StateDictError::Read { .. }));
}

#[test]
fn truncated_files_are_refused_and_damaged_headers_never_panic() {
    let (folder, path) = saved();
    let bytes = std::fs::read(&path).unwrap();
    let damaged = folder.path().join("damaged.safetensors");
    for length in 0..bytes.len() {
        std::fs::write(&damaged, &bytes[..length]).unwrap();
        let error = refusal(&damaged, model());
        assert!(matches!(error, StateDictError::Format { .. }), "{length}: {error}");
    }
    let data = 4 * model().num_params();
    for position in 0..bytes.len() - data {
        for flipped in [0x01, 0x80, 0xff] {
            let mut bytes = bytes.clone();
            bytes[position] ^= flipped;
            std::fs::write(&damaged, bytes).unwrap();
            // The header may still be valid; if not, the result is an error.
            let _ = StateDict::open(&damaged).and_then(|weights| weights.load_into(&mut model()));
        }
    }
}
