use crate::files::write_atomically;
use crate::{Error, Result};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Something that can be kept as arrays and texts.
pub trait Prepared: Sized {
    /// Its arrays by name.
    fn arrays(&self) -> Vec<(&'static str, Array<'_>)>;

    /// What it is besides.
    fn texts(&self) -> BTreeMap<String, String>;

    /// It, from those; `None` if they are not its own.
    fn from_arrays(arrays: &Arrays<'_>) -> Option<Self>;
}

/// Numbers in a flat list. They are kept as they lie in memory, since the cache does not leave the
/// machine.
#[derive(Clone, Debug)]
pub enum Array<'a> {
    /// Bytes.
    U8(&'a [u8]),
    /// Row numbers and counts.
    U32(Cow<'a, [u32]>),
    /// Values.
    F32(&'a [f32]),
}

impl Array<'_> {
    fn parts(&self) -> (Dtype, usize, &[u8]) {
        match self {
            Self::U8(values) => (Dtype::U8, values.len(), values),
            Self::U32(values) => (Dtype::U32, values.len(), bytemuck::cast_slice(values)),
            Self::F32(values) => (Dtype::F32, values.len(), bytemuck::cast_slice(values)),
        }
    }
}

/// What a file of prepared data holds.
#[derive(Debug)]
pub struct Arrays<'a> {
    tensors: SafeTensors<'a>,
    texts: HashMap<String, String>,
}

impl Arrays<'_> {
    /// Bytes.
    pub fn u8(&self, name: &str) -> Option<Vec<u8>> {
        self.numbers(name, Dtype::U8)
    }

    /// Row numbers and counts.
    pub fn u32(&self, name: &str) -> Option<Vec<u32>> {
        self.numbers(name, Dtype::U32)
    }

    /// Values.
    pub fn f32(&self, name: &str) -> Option<Vec<f32>> {
        self.numbers(name, Dtype::F32)
    }

    /// A text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }

    fn numbers<E: bytemuck::AnyBitPattern + bytemuck::NoUninit>(
        &self,
        name: &str,
        dtype: Dtype,
    ) -> Option<Vec<E>> {
        let tensor = self.tensors.tensor(name).ok().filter(|tensor| tensor.dtype() == dtype)?;
        Some(bytemuck::pod_collect_to_vec(tensor.data()))
    }
}

const CHECKSUM: &str = "checksum";

/// Writes so that a reader never sees half of it, with the permissions that the umask leaves: the cache may be
/// shared.
pub(super) fn write<T: Prepared>(path: &Path, thing: &T) -> Result<()> {
    let failed = |error: safetensors::SafeTensorError| Error::Failed(error.to_string());
    let arrays = thing.arrays();
    let mut views = Vec::new();
    for (name, array) in &arrays {
        let (dtype, length, bytes) = array.parts();
        let view = TensorView::new(dtype, vec![length], bytes).map_err(failed)?;
        views.push((*name, view));
    }
    let texts = thing.texts();
    let mut info: HashMap<String, String> = texts.clone().into_iter().collect();
    info.insert(CHECKSUM.to_owned(), checksum(&texts, &views));
    let bytes = safetensors::serialize(views, Some(info)).map_err(failed)?;
    write_atomically(path, bytes)
}

/// What the file holds; `None` where there is none, or it is damaged or of another kind.
pub(super) fn read<T: Prepared>(path: &Path) -> Option<T> {
    let bytes = std::fs::read(path).ok()?;
    let tensors = SafeTensors::deserialize(&bytes).ok()?;
    let (_, header) = SafeTensors::read_metadata(&bytes).ok()?;
    let mut texts = header.metadata().clone()?;
    let expected = texts.remove(CHECKSUM)?;
    let sorted = texts.clone().into_iter().collect();
    let views: Vec<(&str, TensorView<'_>)> = tensors.iter().collect();
    if checksum(&sorted, &views) != expected {
        return None;
    }
    T::from_arrays(&Arrays { tensors, texts })
}

fn checksum(texts: &BTreeMap<String, String>, views: &[(&str, TensorView<'_>)]) -> String {
    let mut digest = Sha256::new();
    let mut add = |piece: Cow<'_, [u8]>| {
        digest.update((piece.len() as u64).to_le_bytes());
        digest.update(&piece);
    };
    for (name, text) in texts {
        add(name.as_bytes().into());
        add(text.as_bytes().into());
    }
    let mut views: Vec<_> = views.iter().collect();
    views.sort_by_key(|(name, _)| *name);
    for (name, view) in views {
        add(name.as_bytes().into());
        add(format!("{:?}{:?}", view.dtype(), view.shape()).into_bytes().into());
        add(view.data().into());
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
