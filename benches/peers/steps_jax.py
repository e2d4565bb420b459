#!/usr/bin/env python3
"""Training steps of the networks of `steps.py` in JAX, a whole step in one compiled function.

usage: python3 benches/peers/steps_jax.py NETWORK [BATCH]

Needs jax. Reads numbers from its input, makes as many steps at each, and answers with their times in
milliseconds, one a line. With a batch it computes the network's output for so many examples, as one does
after training, in place of steps. JAX has no setting for its threads: who wants one starts it on one core.
Pictures lie channels-last, arguments are donated, and random numbers come from XLA's generator, which is
JAX's fastest on a processor.
"""
import math
import sys
import time

import jax
import jax.numpy as jnp

jax.config.update("jax_default_prng_impl", "rbg")


def gelu(x):
    return jax.nn.gelu(x, approximate=False)


def split(key, count=2):
    """Keys of their own, or none after training."""
    return [None] * count if key is None else jax.random.split(key, count)


def dropout(x, rate, key):
    """As it is after training, where there is no key."""
    if key is None:
        return x
    kept = jax.random.bernoulli(key, 1 - rate, x.shape)
    return jnp.where(kept, x / (1 - rate), 0)


def uniform(key, shape, inputs):
    bound = 1 / math.sqrt(inputs)
    return jax.random.uniform(key, shape, minval=-bound, maxval=bound)


def linear(key, inputs, outputs):
    return {"w": uniform(key, (inputs, outputs), inputs), "b": jnp.zeros(outputs)}


def kernel(key, inputs, outputs, side):
    return uniform(key, (side, side, inputs, outputs), side * side * inputs)


def norm(channels):
    return {"scale": jnp.ones(channels), "shift": jnp.zeros(channels)}


def running(channels):
    return {"mean": jnp.zeros(channels), "variance": jnp.ones(channels)}


def convolve(x, weight, stride=1, padding="SAME"):
    if padding == "SAME":
        pad = weight.shape[0] // 2
        padding = [(pad, pad), (pad, pad)]
    return jax.lax.conv_general_dilated(
        x, weight, (stride, stride), padding, dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


class Statistics:
    """Hands every batch norm its running statistics, and collects the new ones, in the order of the calls."""

    def __init__(self, before):
        self.before, self.after = before, []

    def batch_norm(self, x, norm):
        axes = tuple(range(x.ndim - 1))
        mean, variance = x.mean(axes), x.var(axes)
        old = self.before[len(self.after)]
        count = x.size // x.shape[-1]
        unbiased = jax.lax.stop_gradient(variance) * count / (count - 1)
        self.after.append({
            "mean": 0.9 * old["mean"] + 0.1 * jax.lax.stop_gradient(mean),
            "variance": 0.9 * old["variance"] + 0.1 * unbiased,
        })
        return (x - mean) * (jax.lax.rsqrt(variance + 1e-5) * norm["scale"]) + norm["shift"]


class Running:
    """Normalises by running statistics, in the order of the calls."""

    def __init__(self, statistics):
        self.left = iter(statistics)

    def batch_norm(self, x, norm):
        of = next(self.left)
        scale = jax.lax.rsqrt(of["variance"] + 1e-5) * norm["scale"]
        return (x - of["mean"]) * scale + norm["shift"]


def pool(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def cross_entropy(logits, labels):
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
    return -chosen.mean()


# A network is its parameters, its running statistics, its batch with the targets, and a function from parameters,
# norms, a batch and a key to its output. The key is only given in training.


def mlp(sizes, batch, rate, key):
    keys = jax.random.split(key, len(sizes))
    parameters = [linear(*of) for of in zip(keys, sizes[:-1], sizes[1:])]
    x = jax.random.uniform(keys[-1], (batch, sizes[0]))
    labels = jax.random.randint(keys[-1], (batch,), 0, sizes[-1])

    def output(parameters, norms, x, key):
        for layer in parameters[:-1]:
            x = gelu(x @ layer["w"] + layer["b"])
            if rate:
                key, draw = split(key)
                x = dropout(x, rate, draw)
        return x @ parameters[-1]["w"] + parameters[-1]["b"]

    return parameters, [], (x, labels), output


def autoencoder(batch, key):
    sizes = [784, 1000, 500, 250, 30, 250, 500, 1000, 784]
    parameters, statistics, (x, _), output = mlp(sizes, batch, 0.0, key)
    return parameters, statistics, (x, x), output


CNN = [
    [(3, 96, 3, "SAME"), (96, 96, 3, "SAME"), (96, 96, 3, "SAME")],
    [(96, 192, 3, "SAME"), (192, 192, 3, "SAME"), (192, 192, 3, "SAME")],
    [(192, 192, 3, "VALID"), (192, 192, 1, "VALID"), (192, 192, 1, "VALID")],
]


def cnn(batch, key):
    keys = iter(jax.random.split(key, 12))
    parameters = {
        "stages": [
            [{"w": kernel(next(keys), a, b, side), **norm(b)} for a, b, side, _ in stage]
            for stage in CNN
        ],
        "output": uniform(next(keys), (192, 10), 192),
        "output_norm": norm(10),
    }
    statistics = [running(outputs) for stage in CNN for _, outputs, _, _ in stage] + [running(10)]
    x = jax.random.uniform(next(keys), (batch, 32, 32, 3))
    labels = jax.random.randint(next(keys), (batch,), 0, 10)

    def output(parameters, norms, x, key):
        draws = split(key, 3)
        if key is not None:
            x = x + 0.15 * jax.random.normal(draws[2], x.shape)
        for index, (stage, layers) in enumerate(zip(CNN, parameters["stages"])):
            for (_, _, _, padding), layer in zip(stage, layers):
                x = gelu(norms.batch_norm(convolve(x, layer["w"], 1, padding), layer))
            if index < 2:
                x = dropout(pool(x), 0.5, draws[index])
        return norms.batch_norm(x.mean((1, 2)) @ parameters["output"], parameters["output_norm"])

    return parameters, statistics, (x, labels), output


def wrn(batch, key):
    keys = iter(jax.random.split(key, 64))
    groups, statistics, inputs = [], [running(16), running(16)], 16
    for outputs, stride in [(64, 1), (128, 2), (256, 2)]:
        blocks = []
        for index in range(6):
            block = {
                "conv1": kernel(next(keys), inputs, outputs, 3), "bias1": jnp.zeros(outputs),
                "conv2": kernel(next(keys), outputs, outputs, 3), "bias2": jnp.zeros(outputs),
                **norm(outputs),
            }
            if index == 0:
                block["shortcut"] = kernel(next(keys), inputs, outputs, 1)
            blocks.append(block)
            statistics.append(running(outputs))
            inputs = outputs
        groups.append(blocks)
    parameters = {
        "stem": kernel(next(keys), 3, 16, 3), "stem_norms": [norm(16), norm(16)],
        "groups": groups, "norm": norm(256), "output": linear(next(keys), 256, 100),
    }
    statistics.append(running(256))
    x = jax.random.uniform(next(keys), (batch, 32, 32, 3))
    labels = jax.random.randint(next(keys), (batch,), 0, 100)

    def output(parameters, norms, x, key):
        first, second = parameters["stem_norms"]
        x = gelu(norms.batch_norm(convolve(x, parameters["stem"]), first))
        x = norms.batch_norm(x, second)
        for index, blocks in enumerate(parameters["groups"]):
            for number, block in enumerate(blocks):
                stride = 2 if index and number == 0 else 1
                key, draw = split(key)
                y = gelu(convolve(x, block["conv1"], stride) + block["bias1"])
                y = gelu(convolve(dropout(y, 0.3, draw), block["conv2"]) + block["bias2"])
                y = norms.batch_norm(y, block)
                x = y + (convolve(x, block["shortcut"], stride) if number == 0 else x)
        x = gelu(norms.batch_norm(x, parameters["norm"])).mean((1, 2))
        return x @ parameters["output"]["w"] + parameters["output"]["b"]

    return parameters, statistics, (x, labels), output


def gpt(batch, key, layers=4, width=128, heads=4, context=64, vocabulary=65):
    keys = iter(jax.random.split(key, 32))

    def matrix(inputs, outputs):
        return 0.02 * jax.random.normal(next(keys), (inputs, outputs))

    parameters = {
        "tokens": matrix(vocabulary, width), "positions": matrix(context, width),
        "norm": jnp.ones(width),
        "blocks": [
            {
                "attention_norm": jnp.ones(width), "qkv": matrix(width, 3 * width),
                "output": matrix(width, width), "mlp_norm": jnp.ones(width),
                "inner": matrix(width, 4 * width), "outer": matrix(4 * width, width),
            }
            for _ in range(layers)
        ],
    }
    tokens = jax.random.randint(next(keys), (batch, context), 0, vocabulary)
    targets = jax.random.randint(next(keys), (batch * context,), 0, vocabulary)

    def layer_norm(x, scale):
        mean = x.mean(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * scale

    def attention(x, block):
        batch, length, _ = x.shape
        qkv = (x @ block["qkv"]).reshape(batch, length, 3, heads, -1)
        q, k, v = (qkv[:, :, index] for index in range(3))
        y = jax.nn.dot_product_attention(q, k, v, is_causal=True)
        return y.reshape(x.shape) @ block["output"]

    def output(parameters, norms, tokens, key):
        x = parameters["tokens"][tokens] + parameters["positions"]
        for block in parameters["blocks"]:
            x = x + attention(layer_norm(x, block["attention_norm"]), block)
            x = x + gelu(layer_norm(x, block["mlp_norm"]) @ block["inner"]) @ block["outer"]
        logits = layer_norm(x, parameters["norm"]) @ parameters["tokens"].T
        return logits.reshape(-1, vocabulary)

    return parameters, [], (tokens, targets), output


# Each with the number of examples per step.
NETWORKS = {
    "classifier": (lambda batch, key: mlp([784] + [128] * 8 + [10], batch, 0.0, key), 128),
    "autoencoder": (autoencoder, 64),
    "tagger": (lambda batch, key: mlp([150, 256, 256, 25], batch, 0.2, key), 16),
    "frames": (lambda batch, key: mlp([286] + [2048] * 5 + [39], batch, 0.5, key), 1024),
    "cnn": (cnn, 100),
    "wrn": (wrn, 16),
    "gpt": (gpt, 12),
}


def squared_error(output, targets):
    return ((output - targets) ** 2).mean()


def adam(rate, beta_2=0.999, decay=0.0):
    """Adam, or AdamW where weights decay."""

    def update(parameter, gradient, state, count):
        first = 0.9 * state[0] + 0.1 * gradient
        second = beta_2 * state[1] + (1 - beta_2) * gradient**2
        step = first / (1 - 0.9**count)
        step = step / (jnp.sqrt(second / (1 - beta_2**count)) + 1e-8)
        return parameter - rate * (step + decay * parameter), (first, second)

    return update, 2


def sgd(parameter, gradient, state, _):
    """With Nesterov's momentum and an L2 penalty."""
    gradient = gradient + 1e-3 * parameter
    velocity = 0.9 * state[0] + gradient
    return parameter - 1e-2 * (gradient + 0.9 * velocity), (velocity,)


OPTIMISERS = {"wrn": (sgd, 1), "gpt": adam(1e-3, 0.99, 0.1)}


def training(name, key):
    """A function that makes a step and returns its loss."""
    network, examples = NETWORKS[name]
    parameters, statistics, batch, output = network(examples, key)
    criterion = squared_error if name == "autoencoder" else cross_entropy
    update, moments = OPTIMISERS.get(name, adam(1e-4))
    leaves, tree = jax.tree.flatten(parameters)
    states = [tuple(jnp.zeros_like(leaf) for _ in range(moments)) for leaf in leaves]

    def step(leaves, states, statistics, count, batch):
        x, targets = batch

        def of(leaves):
            draws = jax.random.fold_in(key, count.astype(int))
            norms = Statistics(statistics)
            y = output(jax.tree.unflatten(tree, leaves), norms, x, draws)
            return criterion(y, targets), norms.after

        (value, statistics), gradients = jax.value_and_grad(of, has_aux=True)(leaves)
        updated = [update(*each, count) for each in zip(leaves, gradients, states)]
        leaves, states = [each[0] for each in updated], [each[1] for each in updated]
        return leaves, states, statistics, count + 1, value

    step = jax.jit(step, donate_argnums=(0, 1, 2, 3))
    state = (leaves, states, statistics, jnp.float32(1))

    def make():
        nonlocal state
        *state, value = step(*state, batch)
        return jax.block_until_ready((state, value))[1]

    return make


def inference(name, examples, key):
    """A function that computes the output for so many examples."""
    parameters, statistics, (x, _), output = NETWORKS[name][0](examples, key)
    compute = jax.jit(lambda parameters, x: output(parameters, Running(statistics), x, None))
    return lambda: jax.block_until_ready(compute(parameters, x))


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in NETWORKS:
        sys.exit(f"usage: steps_jax.py {'|'.join(NETWORKS)} [BATCH]")
    name, key = sys.argv[1], jax.random.key(1)
    if len(sys.argv) == 2:
        make = training(name, key)
    else:
        make = inference(name, int(sys.argv[2]), key)
    for line in sys.stdin:
        for _ in range(int(line)):
            start = time.perf_counter()
            value = make()
            print((time.perf_counter() - start) * 1e3)
        if not jnp.isfinite(value).all():
            sys.exit("its numbers are no longer finite")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
