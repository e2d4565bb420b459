//! Predicting with a trained network.

use super::evaluate::measuring_loader;
use super::network::Network;
use super::run::load_model;
use super::splits::Splits;
use crate::data::own::table;
use crate::data::pictures;
use crate::data::{DataSet, Images, TextSet};
use crate::runs::{RunFolder, RunSpec};
use crate::{Error, Result};
use burn::tensor::Device;
use burn::tensor::activation::softmax;
use gelu_learner::unreadable;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;

/// What a network predicts.
#[derive(Clone, Debug, PartialEq)]
pub enum Prediction {
    /// The classes with their probabilities, the likeliest first.
    Classes(Vec<(String, f64)>),
    /// How a text goes on.
    Text(String),
}

/// How much of a text is predicted, and how.
#[derive(Clone, Copy, Debug)]
pub struct Continuation {
    /// Characters.
    pub length: usize,
    /// 0 always takes the likeliest character, 1 draws as the network has it.
    pub temperature: f64,
}

/// Predicts for an input with the network of a run: a picture's file, a row of the table as its cells between
/// commas, or a text to go on from. `data` is what the run was trained on, read from `place`: the input is scaled,
/// normalised or whitened by what was fitted to its training part, as every test example was.
///
/// # Errors
///
/// When the input is none of the kind that the network was trained on, or the network cannot be read.
pub fn predict(
    run: &RunFolder,
    mut data: DataSet,
    place: Option<&Path>,
    input: &str,
    continuation: Continuation,
    device: &Device,
) -> Result<Prediction> {
    let spec: RunSpec = run.spec_of_any_version()?;
    if let DataSet::Text(text) = &data {
        let model = load_model(run, &Splits::new(&data, &spec, device)?, device)?;
        return continued(&model, text, input, continuation, spec.seed).map(Prediction::Text);
    }
    if !spec.network.classifies() {
        return Err(Error::Usage(
            "this network names no class and continues no text; predict with one of pictures, a table or a text"
                .to_owned(),
        ));
    }
    let asked = spec.data.asked();
    let mut names: Vec<String> = (0..data.classes()).map(|class| class.to_string()).collect();
    // The input takes the place of the test part, which is presented by what was fitted to the training part.
    match (&mut data, place) {
        (DataSet::Pictures(set), place) => {
            set.test = picture(Path::new(input), asked.size, &set.train)?;
            if let Some(place) = place.filter(|_| asked.set == "pictures") {
                names = pictures::Folders::find(place)?.classes;
            }
        }
        (DataSet::Windows(set), Some(place)) if asked.set == "csv" => {
            let row = table::row(&asked, place, input)?;
            (set.test, names) = (row.inputs, row.classes);
        }
        _ => {
            return Err(Error::Usage(format!(
                "an input of {} cannot be given by hand; predict with a network of pictures, a table or a text",
                asked.set
            )));
        }
    }
    let splits = Splits::new(&data, &spec, device)?;
    let model = load_model(run, &splits, device)?;
    let loader = measuring_loader(&splits.test, &spec.network);
    let batch = loader.iter().next().expect("the test part is the input");
    let output = model.score(batch.map_err(unreadable)?).output;
    let probabilities = softmax(output, 1).try_into_data().map_err(unreadable)?;
    let mut classes: Vec<(String, f64)> =
        names.into_iter().zip(probabilities.iter::<f64>()).collect();
    classes.sort_by(|a, b| b.1.total_cmp(&a.1));
    Ok(Prediction::Classes(classes))
}

/// The picture of a file, of the size and the colours of those that were trained on.
fn picture(path: &Path, size: Option<usize>, trained: &Images) -> Result<Images> {
    let read = pictures::read_one(path, size)?;
    if (read.height, read.width) != (trained.height, trained.width) {
        return Err(Error::Usage(format!(
            "{} has {}×{} pixels, and the network was trained on {}×{}; scale the picture to that size",
            path.display(),
            read.width,
            read.height,
            trained.width,
            trained.height
        )));
    }
    match (read.channels, trained.channels) {
        (found, wanted) if found == wanted => Ok(read),
        (1, wanted) => Ok(Images { pixels: read.pixels.repeat(wanted), channels: wanted, ..read }),
        _ => Err(Error::Usage(format!(
            "{} has colours, and the network was trained on grey pictures; convert it, for example with \
             `magick PICTURE -colorspace gray GREY`",
            path.display()
        ))),
    }
}

fn continued(
    network: &Network,
    text: &TextSet,
    prompt: &str,
    continuation: Continuation,
    seed: u64,
) -> Result<String> {
    let number = |c: char| {
        text.vocabulary.binary_search(&c).map_err(|_| {
            Error::Usage(format!(
                "the text has {c:?}, which does not occur in {}; leave it out",
                text.source.name
            ))
        })
    };
    let numbers: Vec<usize> = prompt.chars().map(number).collect::<Result<_>>()?;
    let gpt = network.gpt().filter(|_| !numbers.is_empty()).ok_or_else(|| {
        Error::Usage(
            "an empty text has nothing to go on from; give at least one character".to_owned(),
        )
    })?;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let Continuation { length, temperature } = continuation;
    let written = gpt.continued(&numbers, length, temperature, || random.random());
    let written: Vec<u32> = written.into_iter().map(|number| number as u32).collect();
    Ok(text.spelled(&written))
}
