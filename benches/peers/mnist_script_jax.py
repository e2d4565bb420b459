#!/usr/bin/env python3
"""The protocol of `gelu compare mnist-script` in JAX: all seeds at once, an epoch in one compiled function.

usage: python3 benches/peers/mnist_script_jax.py FOLDER [--seeds N] [--epochs N]

FOLDER holds MNIST's four IDX files, gzipped or not (needs jax and numpy). 784 - 8 x [128, GELU, dropout
0.5] - 10, weight rows of unit norm, Adam at 1e-4, batches of 64, pixels from -1 to 1. `vmap` over the seeds,
`scan` over the batches, pictures gathered on the device, random numbers from XLA's generator. Prints an epoch
a line: mean loss of the training batches with dropout on, and loss on the test set, of each seed.
"""
import argparse
import functools
import gzip
import pathlib

import jax
import jax.numpy as jnp
import numpy

jax.config.update("jax_default_prng_impl", "rbg")
SIZES = [784] + [128] * 8 + [10]
BATCH = 64


def read_idx(folder, name):
    """An IDX file of bytes, with its dimensions."""
    (path,) = [path for path in folder.iterdir() if path.name.replace(".", "-").startswith(name)]
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rb") as file:
        content = file.read()
    rank = content[3]
    shape = numpy.frombuffer(content, ">u4", rank, 4)
    return numpy.frombuffer(content, numpy.uint8, offset=4 + 4 * rank).reshape(shape)


def read_part(folder, part):
    pixels = read_idx(folder, f"{part}-images").astype(numpy.float32) / 127.5 - 1
    return pixels.reshape(len(pixels), -1), read_idx(folder, f"{part}-labels").astype(numpy.int32)


def drawn(key):
    def layer(key, inputs, outputs):
        rows = jax.random.normal(key, (outputs, inputs))
        rows = rows / jnp.linalg.norm(rows, axis=1, keepdims=True)
        return rows.T, jnp.zeros(outputs)

    keys = jax.random.split(key, len(SIZES) - 1)
    return [layer(*of) for of in zip(keys, SIZES[:-1], SIZES[1:])]


def log_loss(parameters, x, labels, key):
    """Mean over the batch, with dropout where there is a key."""
    for weight, bias in parameters[:-1]:
        x = jax.nn.gelu(x @ weight + bias, approximate=False)
        if key is not None:
            key, draw = jax.random.split(key)
            x = jnp.where(jax.random.bernoulli(draw, 0.5, x.shape), 2 * x, 0)
    weight, bias = parameters[-1]
    logits = jax.nn.log_softmax(x @ weight + bias)
    return -jnp.take_along_axis(logits, labels[:, None], 1).mean()


def step(pictures, labels, state, indices):
    parameters, first, second, count, key = state
    key, draw = jax.random.split(key)
    loss, gradients = jax.value_and_grad(log_loss)(
        parameters, pictures[indices], labels[indices], draw
    )
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
    scale = 1e-4 / (1 - 0.9**count)
    correction = 1 - 0.999**count
    parameters = jax.tree.map(
        lambda p, m, v: p - scale * m / (jnp.sqrt(v / correction) + 1e-8),
        parameters, first, second,
    )
    return (parameters, first, second, count + 1, key), loss


def epoch(pictures, labels, state):
    """One seed's."""
    parameters, first, second, count, key = state
    key, shuffle = jax.random.split(key)
    order = jax.random.permutation(shuffle, len(labels))
    whole = len(labels) // BATCH * BATCH
    state = parameters, first, second, count, key
    one = functools.partial(step, pictures, labels)
    state, losses = jax.lax.scan(one, state, order[:whole].reshape(-1, BATCH))
    losses = losses.sum()
    batches = whole // BATCH
    if whole < len(labels):
        state, last = one(state, order[whole:])
        losses, batches = losses + last, batches + 1
    return state, losses / batches


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=3)
    arguments = parser.parse_args()
    train = [jnp.asarray(of) for of in read_part(arguments.folder, "train")]
    test = [jnp.asarray(of) for of in read_part(arguments.folder, "t10k")]

    def begin(seed):
        key, draw = jax.random.split(jax.random.key(seed))
        parameters = drawn(draw)
        zeros = jax.tree.map(jnp.zeros_like, parameters)
        return parameters, zeros, zeros, jnp.float32(1), key

    state = jax.vmap(begin)(jnp.arange(arguments.seeds))
    train_epoch = jax.jit(jax.vmap(epoch, in_axes=(None, None, 0)), donate_argnums=2)
    evaluate = jax.jit(jax.vmap(functools.partial(log_loss, key=None), in_axes=(0, None, None)))
    for number in range(1, arguments.epochs + 1):
        state, losses = train_epoch(*train, state)
        tested = evaluate(state[0], *test)
        cells = " ".join(f"{a:.4f}/{b:.4f}" for a, b in zip(losses, tested))
        print(f"{number} train/test {cells}", flush=True)


if __name__ == "__main__":
    main()
