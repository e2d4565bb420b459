use super::Gpt;
use burn::tensor::{Device, Int, Tensor, TensorData};

impl Gpt {
    /// Returns the continuation of the prompt, token by token. Each token is sampled with probability
    /// `softmax(logits/temperature)`, with a random number in `[0, 1)` from `uniform`. At temperature 0 it is
    /// the most likely token.
    ///
    /// The network sees the last tokens of prompt and text, as many as its context allows.
    ///
    /// # Panics
    ///
    /// If the prompt is empty or has a token outside the vocabulary, or the temperature is negative or NaN.
    pub fn continued(
        &self,
        prompt: &[usize],
        count: usize,
        temperature: f64,
        mut uniform: impl FnMut() -> f64,
    ) -> Vec<usize> {
        let [vocabulary, _] = self.tokens.weight.dims();
        assert!(
            !prompt.is_empty() && prompt.iter().all(|&token| token < vocabulary),
            "a prompt has at least one token, and none above {}, got {prompt:?}",
            vocabulary - 1
        );
        assert!(temperature >= 0.0, "a temperature is 0 or more, got {temperature}");
        let device = self.tokens.weight.device();
        let mut text = prompt.to_vec();
        for _ in 0..count {
            let seen = &text[text.len().saturating_sub(self.context())..];
            text.push(drawn(&self.next(seen, &device), temperature, uniform()));
        }
        text.split_off(prompt.len())
    }

    /// Returns the logits of the next token.
    fn next(&self, seen: &[usize], device: &Device) -> Vec<f64> {
        let tokens: Vec<i64> = seen.iter().map(|&token| token as i64).collect();
        let tokens = Tensor::<2, Int>::from_data(TensorData::new(tokens, [1, seen.len()]), device);
        let last = self.forward(tokens).narrow(1, seen.len() - 1, 1);
        last.into_data().iter::<f64>().collect()
    }
}

/// Returns the token at which the sum of probabilities exceeds `uniform`.
fn drawn(logits: &[f64], temperature: f64, uniform: f64) -> usize {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let likeliest = logits.iter().position(|&logit| logit == largest).unwrap_or(0);
    if temperature == 0.0 {
        return likeliest;
    }
    let weights = logits.iter().map(|logit| ((logit - largest) / temperature).exp());
    let mut left = uniform * weights.clone().sum::<f64>();
    let passed = |weight: f64| {
        left -= weight;
        left < 0.0
    };
    // If rounding leaves no token at the end, the result is the most likely token.
    weights.map(passed).position(|here| here).unwrap_or(likeliest)
}

#[cfg(test)]
mod tests {
    use super::drawn;

    #[test]
    fn tokens_are_drawn_as_often_as_they_are_likely() {
        let logits = [0.0, f64::ln(3.0), f64::NEG_INFINITY];
        let count = 1000;
        let draws =
            (0..count).map(|i| drawn(&logits, 1.0, (f64::from(i) + 0.5) / f64::from(count)));
        let times = draws.fold([0; 3], |mut times, token| {
            times[token] += 1;
            times
        });
        assert_eq!(times, [250, 750, 0]);
        // Halving the temperature squares the odds.
        assert_eq!(drawn(&logits, 0.5, 0.0999), 0);
        assert_eq!(drawn(&logits, 0.5, 0.1001), 1);
        assert_eq!(drawn(&logits, 0.0, 0.0), 1);
    }

    #[test]
    fn what_is_no_number_draws_a_token_all_the_same() {
        assert!(drawn(&[f64::NAN, f64::NAN], 1.0, 0.5) < 2);
        assert!(drawn(&[f64::INFINITY, 0.0], 1.0, 0.999) < 2);
    }
}
