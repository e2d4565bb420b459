//! Causal attention of several heads. It processes one head of one sequence at a time, so that the scores stay in
//! the caches.
//!
//! Results depend on the sizes and the level, but not on the number of threads.

mod backward;
mod forward;
mod matrix;
mod softmax;

use crate::kernels::blocks::PARALLEL_PRODUCT;
use crate::kernels::checks::{self, expect_length, expect_positive};
use crate::kernels::scratch::with_scratch;
use crate::kernels::tile;
use crate::kernels::written::written;
use gelu_kernels::Level;
use gelu_kernels::SharedSlice;
use gelu_kernels::threads::{self, Threads};

/// Attention of every position to itself and to earlier positions (Vaswani et al., arXiv 1706.03762, §3.2):
///
/// ```text
/// P = softmax(Q·Kᵀ/√size, later positions masked)        output = P·V
/// ```
///
/// One row per position holds the queries, keys and values of all heads: `[batch, length, 3, heads, size]`. A
/// weight in P below e^−64 of the largest weight in its row counts as 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CausalAttention {
    /// The number of sequences.
    pub batch: usize,
    /// The number of positions in a sequence.
    pub length: usize,
    /// The number of heads.
    pub heads: usize,
    /// The number of elements in a query, a key or a value of one head.
    pub size: usize,
}

/// The third of `qkv` that a head reads, or of its gradient that a head writes.
#[derive(Clone, Copy, Debug)]
enum Part {
    Query,
    Key,
    Value,
}

/// The sizes of one head, rounded up to whole tiles.
struct Sizes {
    places: usize,
    /// The width of matrices with one column per position.
    columns: usize,
    features: usize,
}

impl Sizes {
    fn of(of: &CausalAttention, rows: usize, lanes: usize) -> Self {
        // Positions are rows of tiles in one product and columns in another.
        let places = of.length.next_multiple_of(rows);
        let features = of.size.next_multiple_of(2 * lanes);
        Self { places, columns: places.next_multiple_of(2 * lanes), features }
    }
}

impl CausalAttention {
    /// Returns the output, `[batch, length, heads, size]`, and P, `[batch, heads, length, length]`.
    ///
    /// # Panics
    ///
    /// If the length of `qkv` does not match the sizes, there are no heads, a head has no numbers, or P does not
    /// fit in memory.
    pub fn forward(&self, level: Level, qkv: &[f32]) -> (Vec<f32>, Vec<f32>) {
        self.expect([("qkv", qkv.len(), 3 * self.numbers())]);
        let mut out = Vec::new();
        let write = |weights: &mut [_]| {
            let weights = SharedSlice::uninit(weights);
            let write = |out: &mut [_]| {
                let out = SharedSlice::uninit(out);
                self.each_head(|sequence, head| {
                    with_scratch(forward::scratch(self, level), |scratch| {
                        tile::run(
                            level,
                            forward::Head {
                                of: *self,
                                sequence,
                                head,
                                qkv,
                                out: &out,
                                weights: &weights,
                                scratch,
                            },
                        );
                    });
                });
            };
            // SAFETY: each head writes its numbers at every position.
            out = unsafe { written(self.numbers(), write) };
        };
        // SAFETY: each head writes all of its weights.
        let weights = unsafe { written(self.weights(), write) };
        (out, weights)
    }

    /// Returns the gradient for `qkv`, given P and the gradient of the output.
    ///
    /// # Panics
    ///
    /// If the length of a slice does not match the sizes.
    pub fn gradient(
        &self,
        level: Level,
        qkv: &[f32],
        weights: &[f32],
        gradient: &[f32],
    ) -> Vec<f32> {
        self.expect([
            ("qkv", qkv.len(), 3 * self.numbers()),
            ("weights", weights.len(), self.weights()),
            ("gradient", gradient.len(), self.numbers()),
        ]);
        let write = |out: &mut [_]| {
            let place = SharedSlice::uninit(out);
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
                    tile::run(level, head);
                });
            });
        };
        // SAFETY: each head writes its numbers of all three parts at every position.
        unsafe { written(qkv.len(), write) }
    }

    fn each_head(&self, work: impl Fn(usize, usize) + Send + Sync) {
        let count = if self.numbers() == 0 { 0 } else { self.batch * self.heads };
        let operations = self.weights().saturating_mul(self.size);
        threads::map(count, Threads::for_work(operations, PARALLEL_PRODUCT), |index| {
            work(index / self.heads, index % self.heads)
        });
    }

    fn expect<const COUNT: usize>(&self, arguments: [(&str, usize, usize); COUNT]) {
        expect_positive("heads", &[self.heads]);
        expect_positive("size", &[self.size]);
        for (argument, found, expected) in arguments {
            expect_length(argument, found, expected, format_args!("as {self:?} says"));
        }
    }

    /// Returns the number of elements in the output.
    fn numbers(&self) -> usize {
        checks::product("attention", &[self.batch, self.length, self.heads, self.size])
    }

    fn weights(&self) -> usize {
        checks::product("attention", &[self.batch, self.heads, self.length, self.length])
    }

    /// Returns the index in `qkv` at which one head's numbers of a position begin.
    fn at(&self, sequence: usize, place: usize, part: Part, head: usize) -> usize {
        (((sequence * self.length + place) * 3 + part as usize) * self.heads + head) * self.size
    }

    /// Returns the same index in the output.
    fn output_at(&self, sequence: usize, place: usize, head: usize) -> usize {
        ((sequence * self.length + place) * self.heads + head) * self.size
    }

    /// Returns the index at which a head's P begins.
    fn weights_at(&self, sequence: usize, head: usize) -> usize {
        (sequence * self.heads + head) * self.length * self.length
    }

    /// Returns the factor of a query's product with a key.
    fn scale(&self) -> f32 {
        (1.0 / (self.size as f64).sqrt()) as f32
    }
}

#[cfg(test)]
mod tests;
