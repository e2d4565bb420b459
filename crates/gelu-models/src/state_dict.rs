//! Loads the weights of a plain PyTorch twin from the safetensors file of its `state_dict`.
//!
//! In PyTorch, write `safetensors.torch.save_file(model.state_dict(), "weights.safetensors")`. A twin whose submodules
//! have the names below loads without changes. For other names, and for files that contain more than the weights, use
//! [`StateDict::map_names`].
//!
//! | network | submodules of the twin |
//! |---|---|
//! | [`Mlp`](crate::Mlp) | `hidden.{layer}.linear`, `output`: `nn.Linear` |
//! | [`Autoencoder`](crate::Autoencoder) | `encoder.{layer}`, `decoder.{layer}`: `nn.Linear` |
//! | [`Cnn`](crate::Cnn) | `stages.{0–2}.{0–2}.conv`: `nn.Conv2d` and `.norm`: `nn.BatchNorm2d`; `output`: `nn.Linear`; `output_norm`: `nn.BatchNorm1d` |
//! | [`WideResNet`](crate::WideResNet) | `stem`, `groups.{0–2}.{block}.conv1`, `.conv2`, `.shortcut`: `nn.Conv2d`; `stem_norms.{0, 1}`, `groups.{0–2}.{block}.norms.{0, 1}`, `norm`: `nn.BatchNorm2d`; `output`: `nn.Linear` |
//! | [`Gpt`](crate::Gpt) | `tokens`, `positions`: `nn.Embedding`; `blocks.{layer}.attention.qkv`, `.attention.output`, `.mlp.linear_inner`, `.mlp.linear_outer` (gated: `.mlp.gate_up`, `.mlp.down`): `nn.Linear`; with a PolyNorm `.mlp.norm`, its `weight` and `bias`; `blocks.{layer}.attention_norm`, `.mlp_norm`, `norm`: `nn.LayerNorm` or `nn.RMSNorm` |
//!
//! Loading translates the differences between the two frameworks. A linear layer's weight is `[outputs, inputs]` in
//! PyTorch and `[inputs, outputs]` in Burn, so it is transposed. A batch norm's `weight` and `bias` become Burn's
//! `gamma` and `beta`; its `num_batches_tracked` has no counterpart and is ignored. Half-precision and double-precision
//! weights are converted to the model's type.

use burn::module::Module;
use burn::store::burn_pack::Tensor;
use burn::store::{
    BurnToPyTorchAdapter, FloatCastAdapter, ModuleAdapter, ModuleSnapshot, ModuleStore,
    PyTorchToBurnAdapter, SafetensorsStore,
};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// PyTorch's count of the batches that a batch norm has seen; Burn has no such count.
const BATCH_COUNTER: &str = "num_batches_tracked";

/// The tensors of a safetensors file, with PyTorch's names.
///
/// ```no_run
/// use burn::tensor::Device;
/// use gelu_models::{MlpConfig, StateDict};
///
/// // An nn.Sequential numbers its members: linear layers at 0, 2, 4.
/// let mut model = MlpConfig::new(784, 10).with_depth(2).init(&Device::default());
/// StateDict::open("weights.safetensors")?
///     .map_names(|name| {
///         let (layer, parameter) = name.split_once('.')?;
///         let ours = ["hidden.0.linear", "hidden.1.linear", "output"];
///         let index = layer.parse::<usize>().ok()? / 2;
///         Some(format!("{}.{parameter}", ours.get(index)?))
///     })?
///     .load_into(&mut model)?;
/// # Ok::<(), gelu_models::StateDictError>(())
/// ```
#[derive(Clone)]
pub struct StateDict {
    path: PathBuf,
    tensors: BTreeMap<String, Tensor>,
}

/// The reason why weights cannot be loaded or saved. Every message names the file and says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StateDictError {
    /// The file cannot be read.
    #[error("cannot read the weights {}: {source}; check the path and its permissions", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write the weights {}: {reason}; choose another path", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The file is not a safetensors file, or it is damaged.
    #[error(
        "{} is not a sound safetensors file ({reason}); write it again with \
         safetensors.torch.save_file(model.state_dict(), …)",
        path.display()
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// Two tensors received the same name.
    #[error(
        "{}: the tensors `{first}` and `{second}` were both mapped to `{name}`; make the names \
         given to map_names unique",
        path.display()
    )]
    SameName {
        /// The file.
        path: PathBuf,
        /// The name that both received.
        name: String,
        /// The tensor that received the name first.
        first: String,
        /// The tensor that received the name second.
        second: String,
    },
    /// The file lacks a parameter of the model.
    #[error(
        "{}: no tensor `{name}` of shape {expected:?}; the file has {}; if it is there under \
         another name, translate with map_names",
        path.display(),
        listed(available)
    )]
    Missing {
        /// The file.
        path: PathBuf,
        /// The parameter, with PyTorch's name.
        name: String,
        /// Its shape, in PyTorch's layout.
        expected: Vec<usize>,
        /// The names that are in the file but not in the model.
        available: Vec<String>,
    },
    /// A tensor does not have the size of its parameter.
    #[error(
        "{}: tensor `{name}` has shape {found:?}, the model expects {expected:?}; give the model \
         the sizes of its twin",
        path.display()
    )]
    Shape {
        /// The file.
        path: PathBuf,
        /// The parameter, with PyTorch's name.
        name: String,
        /// The model's shape, in PyTorch's layout.
        expected: Vec<usize>,
        /// The shape in the file.
        found: Vec<usize>,
    },
    /// A tensor does not hold floating-point numbers.
    #[error(
        "{}: tensor `{name}` holds {found}, weights are floating-point numbers; save the \
         unquantized model",
        path.display()
    )]
    Type {
        /// The file.
        path: PathBuf,
        /// The parameter, with PyTorch's name.
        name: String,
        /// The type in the file.
        found: String,
    },
    /// The file has a tensor for which the model has no parameter.
    #[error(
        "{}: the model has no parameter for tensor `{name}` of shape {found:?}; give it the sizes \
         of its twin, or leave the tensor out with map_names",
        path.display()
    )]
    Unexpected {
        /// The file.
        path: PathBuf,
        /// The tensor's name.
        name: String,
        /// Its shape.
        found: Vec<usize>,
    },
}

impl StateDict {
    /// Reads a whole file into memory, so that later changes to the file have no effect.
    ///
    /// # Errors
    ///
    /// [`Read`](StateDictError::Read) and [`Format`](StateDictError::Format).
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StateDictError> {
        let path = path.as_ref().to_path_buf();
        let bytes = std::fs::read(&path)
            .map_err(|source| StateDictError::Read { path: path.clone(), source })?;
        let mut store = SafetensorsStore::from_bytes(Some(bytes));
        match store.get_all_tensors() {
            Ok(tensors) => Ok(Self { tensors: tensors.clone(), path }),
            Err(error) => Err(StateDictError::Format { path, reason: error.to_string() }),
        }
    }

    /// Renames every tensor. Tensors for which `rename` returns `None` are left out.
    ///
    /// # Errors
    ///
    /// [`SameName`](StateDictError::SameName) if two tensors receive the same name.
    pub fn map_names(
        self,
        mut rename: impl FnMut(&str) -> Option<String>,
    ) -> Result<Self, StateDictError> {
        let mut renamed: BTreeMap<String, (String, Tensor)> = BTreeMap::new();
        for (old, tensor) in self.tensors {
            let Some(new) = rename(&old) else { continue };
            if let Some((first, _)) = renamed.get(&new) {
                let first = first.clone();
                return Err(StateDictError::SameName {
                    path: self.path,
                    name: new,
                    first,
                    second: old,
                });
            }
            renamed.insert(new, (old, tensor));
        }
        let tensors = renamed.into_iter().map(|(name, (_, tensor))| (name, tensor)).collect();
        Ok(Self { tensors, ..self })
    }

    /// Returns the tensors' names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// Loads these weights into a model, including the running means and variances of batch norms. Parameters keep
    /// their device, type and identity. Everything is checked before the model changes.
    ///
    /// # Errors
    ///
    /// [`Missing`](StateDictError::Missing), [`Shape`](StateDictError::Shape) or
    /// [`Type`](StateDictError::Type) for the first parameter that cannot be filled,
    /// [`Unexpected`](StateDictError::Unexpected) for the first tensor without a parameter, and
    /// [`Format`](StateDictError::Format) if a tensor's bytes cannot be read.
    pub fn load_into<M: Module>(&self, model: &mut M) -> Result<(), StateDictError> {
        let expected = model.collect(None, Some(Box::new(BurnToPyTorchAdapter)), true);
        self.check(&expected)?;
        let Some(parameter) = expected.first() else { return Ok(()) };
        let adapter = PyTorchToBurnAdapter.chain(FloatCastAdapter::to(parameter.dtype));
        let tensors = expected.iter().filter_map(|parameter| {
            let mut tensor = self.tensors.get(&parameter.name)?.clone();
            tensor.name.clone_from(&parameter.name);
            Some(tensor)
        });
        let result = model.apply(tensors.collect(), None, Some(adapter.clone_box()), true);
        match result.errors.first() {
            None => Ok(()),
            Some(error) => {
                Err(StateDictError::Format { path: self.path.clone(), reason: error.to_string() })
            }
        }
    }

    /// Checks that every parameter has a tensor, and every tensor a parameter.
    fn check(&self, expected: &[Tensor]) -> Result<(), StateDictError> {
        let path = || self.path.clone();
        let mut unused = self.tensors.clone();
        unused.retain(|name, _| name.rsplit('.').next() != Some(BATCH_COUNTER));
        let mut missing = None;
        for parameter in expected {
            let (name, expected) = (parameter.name.clone(), parameter.shape.to_vec());
            let Some(tensor) = unused.remove(&name) else {
                missing = missing.or(Some((name, expected)));
                continue;
            };
            let found = tensor.shape.to_vec();
            if found != expected {
                return Err(StateDictError::Shape { path: path(), name, expected, found });
            }
            if !tensor.dtype.is_float() {
                let found = format!("{:?}", tensor.dtype);
                return Err(StateDictError::Type { path: path(), name, found });
            }
        }
        if let Some((name, expected)) = missing {
            let available = unused.into_keys().collect();
            return Err(StateDictError::Missing { path: path(), name, expected, available });
        }
        match unused.into_iter().next() {
            None => Ok(()),
            Some((name, tensor)) => {
                let found = tensor.shape.to_vec();
                Err(StateDictError::Unexpected { path: path(), name, found })
            }
        }
    }
}

/// Writes the weights of a model to a new safetensors file with PyTorch's names and layouts. The twin loads the file
/// with `model.load_state_dict(safetensors.torch.load_file(path), strict=False)`; `strict=False` is needed because the
/// counters of batch norms are left out.
///
/// # Errors
///
/// [`Write`](StateDictError::Write).
pub fn save_state_dict<M: Module>(model: &M, path: impl AsRef<Path>) -> Result<(), StateDictError> {
    let path = path.as_ref();
    let store = SafetensorsStore::from_file(path).skip_enum_variants(true);
    let saved = model.save_into(&mut store.with_to_adapter(BurnToPyTorchAdapter));
    saved.map_err(|error| StateDictError::Write {
        path: path.to_path_buf(),
        reason: error.to_string(),
    })
}

impl fmt::Debug for StateDict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shapes = self.tensors.iter().map(|(name, tensor)| (name, &tensor.shape));
        f.debug_struct("StateDict")
            .field("path", &self.path)
            .field("tensors", &shapes.collect::<BTreeMap<_, _>>())
            .finish()
    }
}

/// Returns a list of some of the names, for a message.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 8;
    match names {
        [] => "no other tensor".to_owned(),
        names if names.len() <= SHOWN => format!("besides: {}", names.join(", ")),
        names => {
            let more = names.len() - SHOWN;
            format!("besides: {} and {more} more", names[..SHOWN].join(", "))
        }
    }
}
