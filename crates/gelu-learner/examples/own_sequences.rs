//! A classifier with attention, with a metric of its own where higher is better and a batcher that uses random
//! numbers in training. The first letter of a word gives the position of the letter that is the answer.

use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::InMemDataset;
use burn::module::Module;
use burn::nn::attention::{MhaInput, MultiHeadAttention, MultiHeadAttentionConfig};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Embedding, EmbeddingConfig, LayerNorm, LayerNormConfig, Linear, LinearConfig};
use burn::optim::AdamConfig;
use burn::optim::lr_scheduler::cosine::CosineAnnealingLrSchedulerConfig;
use burn::tensor::{Device, Distribution, Int, Tensor, TensorData};
use burn::train::{InferenceStep, TrainOutput, TrainStep};
use gelu_core::{Activation, ActivationLayer, Channels};
use gelu_learner::randomness::{Purpose, generator};
use gelu_learner::{BatchMetrics, Error, Loader, Measure, Program, Result, Run, Training};
use rand::RngExt;

/// Number of letters in a word, and size of the alphabet.
const LENGTH: usize = 9;
const LETTERS: usize = 8;
const SIZE: usize = 32;

#[derive(Module, Debug)]
struct Reader {
    letters: Embedding,
    places: Embedding,
    attention: MultiHeadAttention,
    norm: LayerNorm,
    hidden: Linear,
    activation: ActivationLayer,
    output: Linear,
}

impl Reader {
    fn new(activation: &Activation, device: &Device) -> Self {
        Self {
            letters: EmbeddingConfig::new(LETTERS, SIZE).init(device),
            places: EmbeddingConfig::new(LENGTH, SIZE).init(device),
            attention: MultiHeadAttentionConfig::new(SIZE, 4).init(device),
            norm: LayerNormConfig::new(SIZE).init(device),
            hidden: LinearConfig::new(SIZE, 4 * SIZE).init(device),
            activation: activation.init(Channels::Shared, device),
            output: LinearConfig::new(4 * SIZE, LETTERS).init(device),
        }
    }

    fn answer(&self, Words { letters, answers }: Words) -> BatchMetrics {
        let [words, length] = letters.dims();
        let places = Tensor::arange(0..length as i64, &letters.device()).unsqueeze::<2>();
        let x = self.letters.forward(letters) + self.places.forward(places);
        let seen = self.attention.forward(MhaInput::self_attn(x.clone())).context;
        // The attention output at the first letter.
        let first = self.norm.forward(x + seen).narrow(1, 0, 1).reshape([words, SIZE]);
        let logits = self.output.forward(self.activation.forward(self.hidden.forward(first)));
        let loss = CrossEntropyLossConfig::new().init(&logits.device());
        let loss = loss.forward(logits.clone(), answers.clone());
        let right = logits.argmax(1).reshape([words]).equal(answers).int().sum();
        BatchMetrics::new(words, loss).count("accuracy", right)
    }
}

impl TrainStep for Reader {
    type Input = Words;
    type Output = BatchMetrics;
    fn step(&self, words: Words) -> TrainOutput<BatchMetrics> {
        let output = self.answer(words);
        TrainOutput::new(self, output.loss().backward(), output)
    }
}

impl InferenceStep for Reader {
    type Input = Words;
    type Output = BatchMetrics;
    fn step(&self, words: Words) -> BatchMetrics {
        self.answer(words)
    }
}

#[derive(Clone, Debug)]
struct Words {
    letters: Tensor<2, Int>,
    answers: Tensor<1, Int>,
}

type Word = [i32; LENGTH];

/// Replaces a share of the letters with the first letter of the alphabet.
#[derive(Clone, Debug)]
struct Smudged {
    share: f64,
}

impl Batcher<Word, Words> for Smudged {
    fn batch(&self, words: Vec<Word>, device: &Device) -> Words {
        let answer = |word: &Word| word[1 + word[0] as usize];
        let answers: Vec<i32> = words.iter().map(answer).collect();
        let (count, letters) = (words.len(), words.concat());
        let letters = Tensor::from_data(TensorData::new(letters, [count, LENGTH]), device);
        // Sampled on the device, so that a resumed run samples the same numbers again.
        let letters = match self.share > 0.0 {
            true => {
                let drawn =
                    Tensor::<2>::random([count, LENGTH], Distribution::Uniform(0.0, 1.0), device);
                letters.mask_fill(drawn.lower_elem(self.share), 0)
            }
            false => letters,
        };
        Words { letters, answers: Tensor::from_data(TensorData::new(answers, [count]), device) }
    }
}

/// Returns `count` random words; each `stream` has its own random numbers.
fn words(count: usize, stream: u64) -> InMemDataset<Word> {
    let mut rng = generator(0, Purpose::Other { stream: 1 << 62 | stream });
    let mut letter = || rng.random_range(0..LETTERS as i32);
    InMemDataset::new((0..count).map(|_| std::array::from_fn(|_| letter())).collect())
}

fn training(run: &Run) -> Result<Training<Reader>> {
    let reader = Reader::new(&run.activation("activation")?, run.device());
    let (share, epochs) = (run.get("smudged")?, run.get("epochs")?);
    let train = Loader::new(words(2048, 0), Smudged { share }).batch_size(64);
    let steps = epochs * train.num_batches();
    let cosine = CosineAnnealingLrSchedulerConfig::new(run.get("learning_rate")?, steps).init();
    Ok(Training::new(reader, AdamConfig::new().init(), cosine.map_err(Error::Usage)?)
        .train(train)
        .valid(Loader::new(words(512, 1), Smudged { share: 0.0 }))
        .test(Loader::new(words(512, 2), Smudged { share: 0.0 }))
        .num_epochs(epochs)
        .probes())
}

fn main() -> std::process::ExitCode {
    Program::new("words", training)
        .measure(Measure::named("accuracy").higher().points())
        .compare("activation", ["relu", "gelu"])
        .set("learning_rate", 3e-3)
        .set("smudged", 0.02)
        .set("epochs", 8)
        .main()
}
