//! Causal attention of several heads, a head of a sequence at a time: its scores stay in the caches.
//!
//! The bits depend on the sizes and the level alone, not on the number of threads.

mod backward;
mod forward;
mod matrix;
mod softmax;

use crate::disjoint::Disjoint;
use crate::level::Level;
use crate::scratch::with_scratch;
use crate::threads::{PARALLEL_PRODUCT, Threads, each};
use std::vec;
use std::vec::Vec;

/// Attention of every place to itself and to those before it (Vaswani et al., arXiv 1706.03762, §3.2):
///
/// ```text
/// P = softmax(Q·Kᵀ/√size, later places masked)        output = P·V
/// ```
///
/// Queries, keys and values of all heads stand side by side in one row for each place: `[batch, length, 3, heads,
/// size]`. A weight in P below e^−64 of its row's largest counts as 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CausalAttention {
    /// Sequences.
    pub batch: usize,
    /// Places in each.
    pub length: usize,
    /// Heads.
    pub heads: usize,
    /// Numbers of a query, a key or a value of one head.
    pub size: usize,
}

/// What a head reads of `qkv`, or writes of its gradient.
#[derive(Clone, Copy, Debug)]
enum Part {
    Query,
    Key,
    Value,
}

/// Sizes of one head, filled up to those of tiles.
struct Sizes {
    places: usize,
    /// Of what has a column for each place.
    columns: usize,
    features: usize,
}

impl Sizes {
    fn of(of: &CausalAttention, rows: usize, lanes: usize) -> Self {
        // Places are rows of tiles here and columns there.
        let places = of.length.next_multiple_of(rows);
        let features = of.size.next_multiple_of(2 * lanes);
        Self { places, columns: places.next_multiple_of(2 * lanes), features }
    }
}

impl CausalAttention {
    /// The output, `[batch, length, heads, size]`, and P, `[batch, heads, length, length]`.
    ///
    /// # Panics
    ///
    /// If `qkv` has another length than the sizes say.
    pub fn forward(&self, level: Level, qkv: &[f32]) -> (Vec<f32>, Vec<f32>) {
        self.expect(qkv.len(), 3 * self.numbers());
        if self.numbers() == 0 {
            return (Vec::new(), vec![0.0; self.weights()]);
        }
        let counts = [self.numbers(), self.weights()];
        let mut results = counts.map(Vec::with_capacity);
        let [out, weights] = results.each_mut().map(Vec::spare_capacity_mut);
        let places = [
            Disjoint::of_unwritten(&mut out[..counts[0]]),
            Disjoint::of_unwritten(&mut weights[..counts[1]]),
        ];
        self.each_head(|sequence, head| {
            with_scratch(forward::scratch(self, level), |scratch| {
                let [out, weights] = &places;
                level.run_tiled(forward::Head {
                    of: *self,
                    sequence,
                    head,
                    qkv,
                    out,
                    weights,
                    scratch,
                });
            });
        });
        for (result, count) in results.iter_mut().zip(counts) {
            // SAFETY: a head writes its numbers of every place, and all of its weights.
            unsafe {
                result.set_len(count);
            }
        }
        results.into()
    }

    /// The gradient of `qkv`, given P and that of the output.
    ///
    /// # Panics
    ///
    /// If a slice has another length than the sizes say.
    pub fn gradient(
        &self,
        level: Level,
        qkv: &[f32],
        weights: &[f32],
        gradient: &[f32],
    ) -> Vec<f32> {
        self.expect(qkv.len(), 3 * self.numbers());
        self.expect(gradient.len(), self.numbers());
        self.expect(weights.len(), self.weights());
        let mut out = Vec::with_capacity(qkv.len());
        let place = Disjoint::of_unwritten(&mut out.spare_capacity_mut()[..qkv.len()]);
        self.each_head(|sequence, head| {
            with_scratch(backward::scratch(self, level), |scratch| {
                let head = backward::Head {
                    of: *self,
                    sequence,
                    head,
                    qkv,
                    weights,
                    gradient,
                    out: &place,
                    scratch,
                };
                level.run_tiled(head);
            });
        });
        // SAFETY: a head writes its numbers of all three parts of every place.
        unsafe {
            out.set_len(qkv.len());
        }
        out
    }

    fn each_head(&self, work: impl Fn(usize, usize) + Send + Sync) {
        let count = if self.numbers() == 0 { 0 } else { self.batch * self.heads };
        let operations = self.weights().saturating_mul(self.size);
        each(count, Threads::worth(operations, PARALLEL_PRODUCT), |index| {
            work(index / self.heads, index % self.heads)
        });
    }

    fn expect(&self, found: usize, expected: usize) {
        assert_eq!(found, expected, "the numbers of {self:?}");
    }

    /// Of the output.
    fn numbers(&self) -> usize {
        product([self.batch, self.length, self.heads, self.size])
    }

    fn weights(&self) -> usize {
        product([self.batch, self.heads, self.length, self.length])
    }

    /// Where a place's numbers of one head begin in `qkv`.
    fn at(&self, sequence: usize, place: usize, part: Part, head: usize) -> usize {
        (((sequence * self.length + place) * 3 + part as usize) * self.heads + head) * self.size
    }

    /// The same in the output.
    fn output_at(&self, sequence: usize, place: usize, head: usize) -> usize {
        ((sequence * self.length + place) * self.heads + head) * self.size
    }

    /// Where P of a head begins.
    fn weights_at(&self, sequence: usize, head: usize) -> usize {
        (sequence * self.heads + head) * self.length * self.length
    }

    /// What a query's product with a key is multiplied by.
    fn scale(&self) -> f32 {
        (1.0 / (self.size as f64).sqrt()) as f32
    }
}

/// # Panics
///
/// If there is no number for it.
fn product(sizes: [usize; 4]) -> usize {
    let product = sizes.into_iter().try_fold(1usize, usize::checked_mul);
    product.expect("attention is over no more than memory")
}

#[cfg(test)]
mod tests;
