use crate::data::TextSet;
use crate::training::Network;
use clap::Args;
use gelu_compare::cli::{count, number};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Flags for letting a network write text.
#[derive(Debug, Args)]
pub(super) struct Writing {
    /// Let each network of a text write this many characters, and print them
    #[arg(long, value_name = "CHARACTERS", default_value_t = 0, value_parser = count::<usize>)]
    write: usize,
    /// Start of the text to write [default: a line break]
    #[arg(long, value_name = "TEXT", requires = "write")]
    prompt: Option<String>,
    /// 1 samples characters with the network's probabilities, less prefers likely characters, 0 always takes the
    /// likeliest
    #[arg(
        long,
        value_name = "T",
        default_value_t = 0.8,
        requires = "write",
        allow_negative_numbers = true,
        value_parser = number
    )]
    temperature: f64,
}

/// The largest number of characters to write.
const MOST: usize = 1_000_000;

impl Writing {
    /// Returns whether the user asked for text.
    fn is_wanted(&self) -> bool {
        self.write > 0
    }

    /// Checks the flags against the data.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) naming the problem and the allowed values.
    pub(super) fn check(&self, text: Option<&TextSet>) -> crate::Result<()> {
        let refuse = |problem: String| Err(crate::Error::Usage(problem));
        if !self.is_wanted() {
            return Ok(());
        }
        let Some(text) = text else {
            return refuse(
                "only the networks of a text can write one; leave --write out".to_owned(),
            );
        };
        if self.write > MOST {
            return refuse(format!("--write {} is too many; {MOST} at most", self.write));
        }
        if !(self.temperature.is_finite() && self.temperature >= 0.0) {
            return refuse(format!(
                "--temperature {} is none; it is 0 or more, and 1 is as likely as the network has it",
                self.temperature
            ));
        }
        let unknown = |c: &char| text.vocabulary.binary_search(c).is_err();
        match self.prompt.iter().flat_map(|prompt| prompt.chars()).find(unknown) {
            Some(unknown) => refuse(format!(
                "--prompt has {unknown:?}, which does not occur in {}, so that no network of it knows it",
                text.source.name
            )),
            None => Ok(()),
        }
    }

    /// Returns the text that a network writes. The same network, prompt and `seed` give the same text.
    pub(super) fn write(&self, network: &Network, text: &TextSet, seed: u64) -> Option<String> {
        let gpt = network.gpt().filter(|_| self.is_wanted())?;
        let number = |c: char| text.vocabulary.binary_search(&c).ok();
        let given = self.prompt.as_deref().unwrap_or("");
        let mut prompt: Vec<usize> = given.chars().filter_map(number).collect();
        if prompt.is_empty() {
            prompt.push(number('\n').unwrap_or(0));
        }
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let numbers = gpt.continued(&prompt, self.write, self.temperature, || random.random());
        let numbers: Vec<u32> = numbers.into_iter().map(|number| number as u32).collect();
        Some(format!("{given}{}", text.spelled(&numbers)))
    }
}
