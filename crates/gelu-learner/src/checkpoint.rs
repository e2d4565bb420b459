//! Connects Burn's checkpoints, which save a model, an optimiser and a scheduler separately and in the background, to
//! a run's folder, which takes all three at once or nothing.

use crate::{Error, Result};
use burn::module::{Module, ModuleMapper, Param, ParamId};
use burn::optim::OptimizerRecord;
use burn::optim::lr_scheduler::LrSchedulerRecord;
use burn::store::ModuleRecord;
use burn::tensor::{Bytes, Tensor};
use burn::train::checkpoint::{
    Checkpoint as Record, Checkpointer, CheckpointerError, CheckpointingAction,
    CheckpointingStrategy,
};
use burn::train::metric::store::EventStoreClient;
use gelu_compare::error::Place;
use gelu_compare::runs::RunFolder;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// File names of the three parts.
pub(crate) const PARTS: [&str; 3] = ["model.bpk", "optimizer.bpk", "scheduler.bpk"];

/// The network of the best epoch so far, in runs that report the best epoch.
pub(crate) const BEST: &str = "best.bpk";

/// The key in a network's file of the value that the program attached to it, as JSON.
pub(crate) const ATTACHED: &str = "attached";

/// The key of the names of the classes, as JSON.
pub(crate) const CLASS_NAMES: &str = "class_names";

/// Values saved with a network, as JSON by key.
pub(crate) type Metadata = Vec<(&'static str, String)>;

/// The records that Burn's background savers deliver and the training loop collects.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// Values saved with the network.
    metadata: Metadata,
    arrived: Mutex<[Option<Result<Bytes, String>>; 3]>,
    more: Condvar,
}

impl Parts {
    pub(crate) fn with(metadata: Metadata) -> Self {
        Self { metadata, ..Self::default() }
    }

    /// Waits for the three records of an epoch and takes them.
    pub(crate) fn take(&self) -> Result<[Bytes; 3]> {
        let mut arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
        while arrived.iter().any(Option::is_none) {
            arrived = self.more.wait(arrived).unwrap_or_else(PoisonError::into_inner);
        }
        let taken = std::mem::take(&mut *arrived);
        let bytes: Result<Vec<Bytes>, String> = taken.into_iter().flatten().collect();
        let bytes = bytes.map_err(|problem| Error::Failed(format!("cannot save: {problem}")))?;
        Ok(bytes.try_into().expect("three parts were waited for"))
    }

    fn put(&self, part: usize, record: Result<Bytes, String>) {
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner)[part] = Some(record);
        self.more.notify_all();
    }

    /// Marks the part as one that no thread will save any more, so that `take` reports an error instead of waiting.
    fn close(&self, part: usize) {
        let mut arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
        let problem = format!("the thread that saves {} has ended", PARTS[part]);
        arrived[part].get_or_insert(Err(problem));
        self.more.notify_all();
    }
}

/// What there is of a run after an epoch.
pub(crate) struct Records {
    pub(crate) model: ModuleRecord,
    pub(crate) optimizer: OptimizerRecord,
    pub(crate) scheduler: LrSchedulerRecord,
}

impl Records {
    /// Reads those of a checkpoint.
    pub(crate) fn load(checkpoint: &Path) -> Result<Self> {
        fn read<R>(
            checkpoint: &Path,
            part: usize,
            load: impl FnOnce(PathBuf) -> std::result::Result<R, burn::store::RecordError>,
        ) -> Result<R> {
            let path = checkpoint.join(PARTS[part]);
            let damaged = |error: &dyn std::fmt::Display| {
                Error::data(&path, Place::File, error.to_string(), "")
            };
            load(path.clone()).map_err(|error| damaged(&error))
        }
        Ok(Self {
            model: read(checkpoint, 0, ModuleRecord::load)?,
            optimizer: read(checkpoint, 1, OptimizerRecord::load)?,
            scheduler: read(checkpoint, 2, LrSchedulerRecord::load)?,
        })
    }

    /// Returns what Burn's savers make of them.
    pub(crate) fn into_parts(self, metadata: &Metadata) -> Result<[Bytes; 3]> {
        let unsaved =
            |error: &dyn std::fmt::Display| Error::Failed(format!("cannot save: {error}"));
        let model = self.model.into_bytes().map_err(|error| unsaved(&error))?;
        let model = without_random_identities(model, metadata).map_err(|error| unsaved(&error))?;
        let optimizer = self.optimizer.into_bytes().map_err(|error| unsaved(&error))?;
        let scheduler = self.scheduler.into_bytes().map_err(|error| unsaved(&error))?;
        Ok([model, optimizer, scheduler])
    }
}

/// Returns a network's record without the random identities that Burn gives to tensors other than parameters, such as
/// a batch norm's running mean. With them, the files of two equal runs would differ, and no code uses them.
/// Parameters are numbered (see [`numbered`]).
fn without_random_identities(
    record: Bytes,
    metadata: &Metadata,
) -> Result<Bytes, burn_pack::Error> {
    let mut tensors = burn_pack::Reader::from_bytes(record)?.into_tensors()?;
    let count = tensors.len() as u64;
    for tensor in &mut tensors {
        tensor.param_id = tensor.param_id.filter(|&id| id <= count);
    }
    let mut writer = burn_pack::Writer::new(tensors);
    for (key, value) in metadata {
        writer = writer.with_metadata(key, value);
    }
    writer.into_bytes()
}

/// Numbers the parameters in their order and uses the numbers as identities. Burn's own identities are random, so the
/// saved files of two equal runs would differ. Parameters that share an identity keep sharing one.
pub fn numbered<M: Module>(model: M) -> M {
    model.map(&mut Numbering::default())
}

#[derive(Default)]
struct Numbering {
    known: HashMap<ParamId, u64>,
}

impl ModuleMapper for Numbering {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let next = self.known.len() as u64 + 1;
        let (id, tensor, mapper) = param.consume();
        let number = *self.known.entry(id).or_insert(next);
        Param::from_mapped_value(ParamId::from(number), tensor, mapper)
    }
}

/// Saves and restores one of the three parts through Burn's interface.
#[derive(Debug)]
pub(crate) struct PartCheckpointer {
    part: usize,
    parts: Arc<Parts>,
    /// The checkpoint to resume from.
    source: Option<PathBuf>,
}

impl PartCheckpointer {
    /// Creates the savers of the model, the optimiser and the scheduler; they restore from `source`.
    pub(crate) fn all(parts: &Arc<Parts>, source: Option<&Path>) -> [Self; 3] {
        [0, 1, 2].map(|part| Self {
            part,
            parts: parts.clone(),
            source: source.map(Path::to_path_buf),
        })
    }
}

impl Drop for PartCheckpointer {
    fn drop(&mut self) {
        self.parts.close(self.part);
    }
}

impl<R: Record> Checkpointer<R> for PartCheckpointer {
    fn save(&self, _epoch: usize, record: R) -> Result<(), CheckpointerError> {
        // Burn calls this in a separate thread and does not notice a panic there.
        let bytes = catch_unwind(AssertUnwindSafe(|| record.checkpoint_into_bytes()));
        self.parts.put(
            self.part,
            match bytes {
                Ok(Ok(bytes)) if self.part == 0 => {
                    let metadata = &self.parts.metadata;
                    without_random_identities(bytes, metadata).map_err(|error| error.to_string())
                }
                Ok(bytes) => bytes.map_err(|error| error.to_string()),
                Err(_) => Err(format!("saving {} panicked", PARTS[self.part])),
            },
        );
        Ok(())
    }

    fn restore(&self, epoch: usize) -> Result<R, CheckpointerError> {
        let missing = || CheckpointerError::Unknown(format!("no checkpoint of epoch {epoch}"));
        R::load(self.source.as_ref().ok_or_else(missing)?.join(PARTS[self.part]))
    }

    fn delete(&self, _epoch: usize) -> Result<(), CheckpointerError> {
        Ok(()) // The run's folder removes old checkpoints.
    }
}

/// Writes a checkpoint after every epoch, so that an interruption loses only the current epoch.
#[derive(Debug)]
pub(crate) struct EveryEpoch;

impl CheckpointingStrategy for EveryEpoch {
    fn checkpointing(&mut self, _: usize, _: &EventStoreClient) -> Vec<CheckpointingAction> {
        vec![CheckpointingAction::Save]
    }
}

/// Checks that a checkpoint can be loaded; Burn would panic if it cannot.
pub(crate) fn verify(checkpoint: &Path) -> Result<()> {
    Records::load(checkpoint).map(|_| ())
}

/// Returns the bytes of the network to save for the run: the best epoch's if the checkpoint has one, otherwise the
/// checkpoint's own.
pub(crate) fn model_bytes(checkpoint: &Path) -> Result<Vec<u8>> {
    let best = checkpoint.join(BEST);
    let path = if best.exists() { best } else { checkpoint.join(PARTS[0]) };
    fs::read(&path).map_err(Error::io("read", path))
}

/// Returns a file of the reported epoch for the checkpoint of `epoch`: `content` if `epoch` is the reported one,
/// otherwise that of the previous checkpoint. So it depends only on the run's epochs, not on interruptions. `content`
/// is `None` if the epoch has no such file.
pub(crate) fn of_reported<'a>(
    run: &RunFolder,
    (name, content): (&str, Option<Cow<'a, [u8]>>),
    epoch: usize,
    reported: usize,
) -> Result<Option<Cow<'a, [u8]>>> {
    if reported == epoch {
        return Ok(content);
    }
    let before = run.checkpoint_path(epoch - 1).join(name);
    match fs::read(&before) {
        Ok(bytes) => Ok(Some(bytes.into())),
        Err(error) if error.kind() == ErrorKind::NotFound && content.is_none() => Ok(None),
        Err(error) => Err(Error::io("read", before)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks::OUTCOMES;
    use burn::nn::{BatchNorm, BatchNormConfig};
    use burn::store::RecordError;
    use burn::tensor::Device;

    /// A record that cannot be saved.
    struct Exploding;

    impl Record for Exploding {
        fn save(self, _: PathBuf) -> Result<(), CheckpointerError> {
            Ok(())
        }

        fn load(_: PathBuf) -> Result<Self, CheckpointerError> {
            Ok(Self)
        }

        fn checkpoint_into_bytes(self) -> Result<Bytes, RecordError> {
            panic!("out of luck")
        }

        fn checkpoint_from_bytes(_: Bytes) -> Result<Self, RecordError> {
            Ok(Self)
        }
    }

    #[test]
    fn a_saver_that_panics_is_an_error_and_nobody_waits_for_it() {
        let parts = Arc::new(Parts::default());
        let [model, _optimizer, _scheduler] = PartCheckpointer::all(&parts, None);
        Checkpointer::<Exploding>::save(&model, 1, Exploding).unwrap();
        for part in [1, 2] {
            parts.put(part, Ok(Bytes::from_bytes_vec(vec![1])));
        }
        let error = parts.take().unwrap_err().to_string();
        assert!(error.contains("saving model.bpk panicked"), "{error}");
    }

    #[test]
    fn records_of_equal_networks_with_batch_norms_are_equal() {
        let norm = || numbered(BatchNormConfig::new(3).init(&Device::default()));
        let bytes = || norm().into_record().into_bytes().unwrap();
        let [first, second] = [bytes(), bytes()];
        assert_ne!(first[..], second[..], "Burn draws identities");
        let [first, second] =
            [first, second].map(|b| without_random_identities(b, &Metadata::new()).unwrap());
        assert_eq!(first[..], second[..]);
        // Parameters have numbers; the other tensors have none.
        let tensors = burn_pack::Reader::from_bytes(first.clone()).unwrap().into_tensors().unwrap();
        let mut ids: Vec<Option<u64>> = tensors.iter().map(|tensor| tensor.param_id).collect();
        ids.sort_unstable();
        assert_eq!(ids, [None, None, Some(1), Some(2)]);
        let loaded = norm().load_record(ModuleRecord::from_bytes(first).unwrap());
        let ids = |norm: &BatchNorm| (norm.gamma.id, norm.beta.id);
        assert_eq!(ids(&loaded), ids(&norm()));
    }

    /// Creates a checkpoint with the files of a network, an optimiser and a scheduler.
    fn checkpoint() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let model = BatchNormConfig::new(3).init(&Device::default()).into_record().into_bytes();
        let optimizer = burn::optim::SgdConfig::new().init().to_record().into_bytes();
        let scheduler = LrSchedulerRecord::new().with_scalar("done", 3_u64).into_bytes();
        let files = [model.unwrap(), optimizer.unwrap(), scheduler.unwrap()];
        for (name, bytes) in PARTS.iter().zip(files) {
            fs::write(folder.path().join(name), &bytes[..]).unwrap();
        }
        folder
    }

    #[test]
    fn a_part_that_cannot_be_loaded_is_named_whatever_its_sum_says() {
        verify(checkpoint().path()).unwrap();
        for part in PARTS {
            let folder = checkpoint();
            fs::write(folder.path().join(part), "not what it was").unwrap();
            let error = verify(folder.path()).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn the_best_epochs_network_and_outcomes_are_kept_and_not_the_lasts() {
        let parent = tempfile::tempdir().unwrap();
        let run = RunFolder::at(parent.path());
        // The second epoch is the best of three.
        for (epoch, best) in [(1, 1), (2, 2), (3, 2)] {
            let checkpoint = run.checkpoint_path(epoch);
            fs::create_dir(&checkpoint).unwrap();
            fs::write(checkpoint.join(PARTS[0]), format!("network {epoch}")).unwrap();
            for (name, content) in [(BEST, "network"), (OUTCOMES, "outcomes")] {
                let content = format!("{content} {epoch}").into_bytes();
                let kept = of_reported(&run, (name, Some(content.into())), epoch, best).unwrap();
                fs::write(checkpoint.join(name), kept.unwrap()).unwrap();
            }
            let none = of_reported(&run, ("none", None), epoch, best).unwrap();
            assert_eq!(none, None);
        }
        let last = run.checkpoint_path(3);
        assert_eq!(model_bytes(&last).unwrap(), b"network 2");
        fs::remove_file(last.join(BEST)).unwrap();
        assert_eq!(model_bytes(&last).unwrap(), b"network 3");
        assert_eq!(fs::read(last.join(OUTCOMES)).unwrap(), b"outcomes 2");
    }

    #[test]
    fn a_saver_that_is_gone_is_an_error_and_nobody_waits_for_it() {
        let parts = Arc::new(Parts::default());
        let savers = PartCheckpointer::all(&parts, None);
        let waiting = {
            let parts = parts.clone();
            std::thread::spawn(move || parts.take().unwrap_err().to_string())
        };
        drop(savers);
        let error = waiting.join().unwrap();
        assert!(error.contains("has ended"), "{error}");
    }
}
