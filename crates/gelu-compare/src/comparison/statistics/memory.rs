use std::sync::{Mutex, PoisonError};

/// So many results are kept.
const KEPT: usize = 1000;

/// What was computed of the same numbers before: whoever watches a comparison asks again and again.
pub(super) struct Memory<V> {
    results: Mutex<Vec<(Vec<f64>, V)>>,
}

impl<V: Clone> Memory<V> {
    pub(super) const fn new() -> Self {
        Self { results: Mutex::new(Vec::new()) }
    }

    /// What `compute` gave of `numbers` before, or gives now.
    pub(super) fn recall(&self, numbers: &[f64], compute: impl FnOnce() -> V) -> V {
        let results = || self.results.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, result)) = results().iter().find(|(before, _)| before == numbers) {
            return result.clone();
        }
        let result = compute();
        let mut results = results();
        if results.len() == KEPT {
            results.clear();
        }
        results.push((numbers.to_vec(), result.clone()));
        result
    }
}
