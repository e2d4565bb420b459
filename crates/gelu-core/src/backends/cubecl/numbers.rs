//! Random numbers in a kernel, from Philox4x32-10 as on the host.

#![allow(missing_docs, reason = "the macro makes public items without documentation")]

use burn_cubecl::cubecl;
use cubecl::prelude::*;
use gelu_kernels::random::philox::{MULTIPLIERS, ROUNDS, WEYL};

/// A sequence of random numbers: the seed and the step of a [`Draw`](crate::random::Draw), in
/// halves.
#[derive(CubeType, Clone, Copy)]
pub(super) struct Stream {
    key_low: u32,
    key_high: u32,
    step_low: u32,
    step_high: u32,
}

/// Returns the sequence that a key names by its eight words of 16 bits.
#[cube]
pub(super) fn stream<I: Int>(key: &Tensor<I>) -> Stream {
    Stream {
        key_low: half::<I>(key, 0usize),
        key_high: half::<I>(key, 2usize),
        step_low: half::<I>(key, 4usize),
        step_high: half::<I>(key, 6usize),
    }
}

#[cube]
fn half<I: Int>(key: &Tensor<I>, #[comptime] at: usize) -> u32 {
    let low = u32::cast_from(key[at]) & 65535u32;
    let high = u32::cast_from(key[comptime!(at + 1)]) & 65535u32;
    low | (high << 16u32)
}

/// Returns the random numbers of this unit's elements, counted in row-major order.
#[cube]
pub(super) fn numbers<N: Size>(stream: Stream) -> Vector<u32, N> {
    let width = N::value().comptime();
    let first = ABSOLUTE_POS * width;
    let mut numbers = Vector::<u32, N>::new(0u32);
    if comptime!(width % 4 == 0) {
        #[unroll]
        for block in 0..comptime!(width / 4) {
            let words = words(first / 4usize + block, &stream);
            #[unroll]
            for word in 0..4usize {
                numbers.insert(comptime!(block * 4 + word), words.extract(word));
            }
        }
    } else {
        #[unroll]
        for lane in 0..width {
            let position = first + lane;
            let words = words(position / 4usize, &stream);
            let word = (position % 4usize) as u32;
            let low = select(word == 0u32, words.extract(0usize), words.extract(1usize));
            let high = select(word == 2u32, words.extract(2usize), words.extract(3usize));
            numbers.insert(lane, select(word < 2u32, low, high));
        }
    }
    numbers
}

/// Returns the four numbers of a block of the stream.
#[cube]
pub(super) fn words(block: usize, stream: &Stream) -> Vector<u32, Const<4>> {
    // The upper half of 64 bits, or 0 where addresses have 32 bits. A shift by 32 would not give 0
    // there.
    let high = (block / 65536usize / 65536usize) as u32;
    philox(block as u32, high, stream)
}

/// Returns one block of Philox4x32-10.
#[cube]
fn philox(counter_low: u32, counter_high: u32, stream: &Stream) -> Vector<u32, Const<4>> {
    let mut a = counter_low;
    let mut b = counter_high;
    let mut c = stream.step_low;
    let mut d = stream.step_high;
    let mut key_low = stream.key_low;
    let mut key_high = stream.key_high;
    let left = comptime!(MULTIPLIERS[0]).runtime();
    let right = comptime!(MULTIPLIERS[1]).runtime();
    #[unroll]
    for _ in 0..comptime!(ROUNDS) {
        let first = u32::mul_hi(right, c) ^ b ^ key_low;
        let third = u32::mul_hi(left, a) ^ d ^ key_high;
        b = right * c;
        d = left * a;
        a = first;
        c = third;
        key_low += comptime!(WEYL[0]);
        key_high += comptime!(WEYL[1]);
    }
    let mut words = Vector::<u32, Const<4>>::new(a);
    words.insert(1usize, b);
    words.insert(2usize, c);
    words.insert(3usize, d);
    words
}
