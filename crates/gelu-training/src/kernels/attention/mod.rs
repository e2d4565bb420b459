//! Causal attention of several heads, a head of a sequence at a time: its scores stay in the caches.
//!
//! The bits depend on the sizes and the level alone, not on the number of threads.

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
    /// If `qkv` has another length than the sizes say, there are no heads or numbers in one, or no memory for P.
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
            // SAFETY: a head writes its numbers of every place.
            out = unsafe { written(self.numbers(), write) };
        };
        // SAFETY: a head writes all of its weights.
        let weights = unsafe { written(self.weights(), write) };
        (out, weights)
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
        // SAFETY: a head writes its numbers of all three parts of every place.
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

    /// Of the output.
    fn numbers(&self) -> usize {
        checks::product("attention", &[self.batch, self.length, self.heads, self.size])
    }

    fn weights(&self) -> usize {
        checks::product("attention", &[self.batch, self.heads, self.length, self.length])
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

#[cfg(test)]
mod tests;
