//! Prediction with a trained network.

use super::evaluate::{evaluate_split, measuring_loader};
use super::input_reader::InputReader;
use super::interface::{Interface, numbered};
use super::large_reader::LargeReader;
use super::network::Network;
use super::run::load_model;
use super::splits::Splits;
use crate::data::{DataSet, Samples};
use crate::runs::RunSpec;
use crate::{Error, Result};
use burn::tensor::Device;
use burn::tensor::activation::softmax;
use gelu_compare::error::Place;
use gelu_compare::runs::RunFolder;
use gelu_learner::{attached, unreadable};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

/// The prediction of a network.
#[derive(Clone, Debug, PartialEq)]
pub enum Prediction {
    /// The classes with their probabilities, the likeliest first; for a recording, the means over its frames.
    Classes(Vec<(String, f64)>),
    /// The likeliest class of each word.
    AxisWords(Vec<Word>),
    /// The continuation of a text.
    Text(String),
    /// The loss of each character of a text, predicted from the characters before it.
    LogLoss {
        /// The mean over the characters, in nats.
        loss: f64,
        /// The number of predicted characters: all but the first, in whole windows of the network's context.
        characters: usize,
    },
    /// The value of a formula at a point, or the number in a row of a table.
    Value(f64),
}

/// A word with its likeliest class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Word {
    /// The word as it is written.
    pub word: String,
    /// The class's name.
    pub class: String,
    /// The class's probability.
    pub probability: f64,
}

/// The task for a network of texts.
#[derive(Clone, Copy, Debug)]
pub enum OfText {
    /// Continue the text.
    Continuation {
        /// The number of characters to write.
        length: usize,
        /// 0 always takes the likeliest character, 1 samples from the network's probabilities.
        temperature: f64,
    },
    /// Compute the loss of the text itself.
    LogLoss,
}

/// Predicts for an input with the network of a run. The input is an image file, a row of a table as comma-separated
/// cells, the file of a recording, words separated by spaces, a text, or the comma-separated coordinates of a point.
///
/// The input is read in the same way as the test examples, with the information saved with the network. `data` loads
/// the run's data set; it is called for runs of an older version, which saved no such information, and if the
/// comparison's folder `readers` is gone.
///
/// # Errors
///
/// If the input is not of the kind that the network was trained on, the network cannot be read, or `data` fails.
pub fn predict(
    run: &RunFolder,
    data: impl FnOnce() -> Result<DataSet>,
    input: &str,
    of_text: OfText,
    device: &Device,
) -> Result<Prediction> {
    let spec: RunSpec = run.spec_of_any_version()?;
    if !spec.network.classifies()
        && !spec.network.is_regression()
        && spec.network.context().is_none()
    {
        return Err(Error::Usage(
            "this network is an autoencoder: it names no class, continues no text and finds no number; predict with \
             another"
                .to_owned(),
        ));
    }
    let (interface, large) = around(run, &spec, data, device)?;
    let model = load_model(run, &interface.shape, device)?;
    let context = spec.network.context();
    match (&interface.reader, of_text) {
        (Some(InputReader::Text(vocabulary)), OfText::Continuation { length, temperature }) => {
            let mut random = ChaCha8Rng::seed_from_u64(spec.seed);
            let draw = || random.random();
            continued(&model, vocabulary, input, length, temperature, draw).map(Prediction::Text)
        }
        (Some(InputReader::Text(_)), OfText::LogLoss) => {
            let samples = interface.read(input, context, None, device)?;
            let loss = evaluate_split(&model, &spec.network, &samples)?.loss;
            Ok(Prediction::LogLoss { loss, characters: samples.len() })
        }
        (_, OfText::LogLoss) => Err(Error::Usage(
            "--loss is the loss of a text, and this network was not trained on one; leave it out"
                .to_owned(),
        )),
        (Some(InputReader::Point { scale, .. } | InputReader::Quantity { scale, .. }), _) => {
            let samples = interface.read(input, None, None, device)?;
            let outputs = outputs(&model, &spec, &samples, false)?;
            Ok(Prediction::Value(scale.value(outputs[0][0])))
        }
        _ => {
            let is_tweet = matches!(large, Some(LargeReader::AxisWords(_)));
            let samples = interface.read(input, None, large, device)?;
            let outputs = outputs(&model, &spec, &samples, true)?;
            Ok(match is_tweet {
                true => of_words(&interface.names, input, &outputs),
                false => of_all(&interface.names, &outputs),
            })
        }
    }
}

/// Returns the interface of a run's network: as saved with it, or from the data for runs of an older version.
///
/// # Errors
///
/// If the file cannot be read, or `data` fails.
pub fn interface_of(
    run: &RunFolder,
    data: impl FnOnce() -> Result<DataSet>,
    device: &Device,
) -> Result<Interface> {
    match saved(run)? {
        Some(saved) => Ok(saved),
        None => Ok(Splits::new(&data()?, &run.spec_of_any_version()?, device)?.interface()),
    }
}

fn saved(run: &RunFolder) -> Result<Option<Interface>> {
    match run.file("model.bpk") {
        path if path.exists() => attached(&path),
        _ => Ok(None),
    }
}

/// Returns the interface of the network and the content of its shared file: as saved, otherwise from the data.
fn around(
    run: &RunFolder,
    spec: &RunSpec,
    data: impl FnOnce() -> Result<DataSet>,
    device: &Device,
) -> Result<(Interface, Option<LargeReader>)> {
    let saved = saved(run)?;
    let missing = match saved.as_ref().and_then(|saved| saved.reader.as_ref()) {
        Some(InputReader::Shared { file }) => match LargeReader::load(run, file) {
            None => Some(LargeReader::path(run, file)),
            large => return Ok((saved.expect("it has a reader"), large)),
        },
        Some(_) => return Ok((saved.expect("it has a reader"), None)),
        None => None,
    };
    let by_data = data().and_then(|data| Ok(Splits::new(&data, spec, device)?.into_interface()));
    by_data.map_err(|error| match missing {
        None => error,
        Some(path) => Error::data(
            path,
            Place::File,
            format!("is missing or damaged, and so the data set is needed ({error})"),
            "restore this file, or name the folder of the data set with --data",
        ),
    })
}

/// Returns the outputs for each example; for a classifier, probabilities.
fn outputs(
    model: &Network,
    spec: &RunSpec,
    samples: &Samples,
    classifies: bool,
) -> Result<Vec<Vec<f64>>> {
    let mut outputs = Vec::new();
    for batch in measuring_loader(samples, &spec.network).iter() {
        let output = model.score(batch.map_err(unreadable)?).output;
        let [_, width] = output.dims();
        let output = if classifies { softmax(output, 1) } else { output };
        let numbers: Vec<f64> = output.try_into_data().map_err(unreadable)?.iter().collect();
        outputs.extend(numbers.chunks(width).map(<[f64]>::to_vec));
    }
    Ok(outputs)
}

/// Returns the mean probabilities over the examples.
fn of_all(names: &[String], probabilities: &[Vec<f64>]) -> Prediction {
    let mean = |class: usize| {
        let sum: f64 = probabilities.iter().map(|example| example[class]).sum();
        sum / probabilities.len() as f64
    };
    let named = names.iter().cloned().enumerate();
    let mut classes: Vec<(String, f64)> = named.map(|(class, name)| (name, mean(class))).collect();
    classes.sort_by(|a, b| b.1.total_cmp(&a.1));
    Prediction::Classes(classes)
}

fn of_words(names: &[String], input: &str, probabilities: &[Vec<f64>]) -> Prediction {
    let word = |(word, of_classes): (&str, &Vec<f64>)| {
        let likeliest = of_classes.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        let (class, &probability) = likeliest.expect("there are classes");
        Word { word: word.to_owned(), class: names[class].clone(), probability }
    };
    Prediction::AxisWords(input.split_whitespace().zip(probabilities).map(word).collect())
}

fn continued(
    network: &Network,
    vocabulary: &str,
    prompt: &str,
    length: usize,
    temperature: f64,
    draw: impl FnMut() -> f64,
) -> Result<String> {
    let numbers: Vec<usize> =
        numbered(vocabulary, prompt)?.into_iter().map(|number| number as usize).collect();
    let gpt = network.gpt().filter(|_| !numbers.is_empty()).ok_or_else(|| {
        Error::Usage(
            "an empty text has nothing to go on from; give at least one character".to_owned(),
        )
    })?;
    let known: Vec<char> = vocabulary.chars().collect();
    let written = gpt.continued(&numbers, length, temperature, draw);
    Ok(written.into_iter().map(|number| known[number]).collect())
}
