#!/usr/bin/env python3
"""Times training steps of the paper's networks in peers and here, in turns, and prints the ratios.

usage: python3 benches/peers/steps.py [--threads 1,2] [--rounds N] [--best] [NETWORK ...]

Needs torch; `--best` needs jax, too. Networks, batches, dropout and optimisers are those of the recipes.
Without flags the peer is PyTorch as most people write it. With `--best` it is whichever is fastest of:

    fused          PyTorch, its optimiser in one pass
    channels-last  the same, pictures channels-last
    compiled       the same by `torch.compile`, of pictures channels-last
    jax            JAX, a whole step compiled (`steps_jax.py`)

in which PyTorch takes subnormal numbers as 0, as JAX and this code do. Builds and starts `steps`, whose
process and the peers take turns of a few steps; each is kept to as many cores as it has threads, since JAX
has no setting for them. Times are milliseconds, medians over all steps; a ratio is the peer's time over
ours, so above 1 this code is faster.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "crates" / "gelu-models" / "tests" / "pytorch"))

from generate import (  # noqa: E402
    NORMS, Autoencoder, Cnn, FeedForward, Gpt, Mlp, PaperBlock, WideResNet,
)

# name: steps in a turn, rounds
NETWORKS = {
    "classifier": (40, 7),
    "autoencoder": (10, 7),
    "tagger": (100, 7),
    "frames": (1, 6),
    "cnn": (1, 4),
    "wrn": (1, 5),
    "gpt": (5, 7),
}
PARTS = ["forward", "backward", "optimiser"]


class Dropped(nn.Module):
    """An activation and dropout behind it."""

    def __init__(self, rate):
        super().__init__()
        self.gelu, self.dropout = nn.GELU(), nn.Dropout(rate)

    def forward(self, x):
        return self.dropout(self.gelu(x))


def cnn_forward(self, x):
    """The twin's, with the recipe's noise and dropout."""
    x = x + 0.15 * torch.randn_like(x)
    for index, stage in enumerate(self.stages):
        for block in stage:
            x = self.activation(block(x))
        if index < 2:
            x = nn.functional.dropout(nn.functional.max_pool2d(x, 2), 0.5)
    return self.output_norm(self.output(x.mean((2, 3))))


def block_forward(self, x):
    """The twin's, with the recipe's dropout."""
    y = nn.functional.dropout(self.activation(self.conv1(x)), 0.3)
    y = self.activation(self.conv2(y))
    return self.norms[0](y) + (self.shortcut(x) if self.first else x)


def adam(model, fused):
    return torch.optim.Adam(model.parameters(), lr=1e-4, fused=fused)


def adamw(model, fused):
    parameters = model.parameters()
    return torch.optim.AdamW(
        parameters, lr=1e-3, betas=(0.9, 0.99), weight_decay=0.1, fused=fused
    )


def sgd(model, fused):
    parameters = model.parameters()
    return torch.optim.SGD(
        parameters, lr=1e-2, momentum=0.9, nesterov=True, weight_decay=1e-3, fused=fused
    )


def pytorch(name, fused=None, channels_last=False, compiled=False):
    """A function that makes a step and gives the milliseconds of its parts."""
    gelu = nn.GELU()
    if name == "classifier":
        model, shape, classes = Mlp([784] + [128] * 8 + [10], gelu), (128, 784), 10
    elif name == "autoencoder":
        model, shape, classes = Autoencoder([784, 1000, 500, 250, 30], gelu), (64, 784), None
    elif name == "tagger":
        model, shape, classes = Mlp([150, 256, 256, 25], Dropped(0.2)), (16, 150), 25
    elif name == "frames":
        model, shape, classes = Mlp([286] + [2048] * 5 + [39], Dropped(0.5)), (1024, 286), 39
    elif name == "cnn":
        Cnn.forward = cnn_forward
        model, shape, classes = Cnn(96, 192, 10, gelu), (100, 3, 32, 32), 10
    elif name == "wrn":
        PaperBlock.forward = block_forward
        model, shape, classes = WideResNet(PaperBlock, 6, 16, 4, 100, gelu), (16, 3, 32, 32), 100
    elif name == "gpt":
        model, shape, classes = Gpt(65, 64, 4, 128, 4, NORMS["layer"], FeedForward, gelu), (12, 64), 65
    else:
        sys.exit(f"there is no network {name}, but {', '.join(NETWORKS)}")
    optimizer = {"wrn": sgd, "gpt": adamw}.get(name, adam)(model, fused)
    x, labels = torch.rand(shape), torch.randint(classes or 2, (shape[0],))
    if name == "gpt":
        x, labels = torch.randint(65, shape), torch.randint(65, (12 * 64,))
    if channels_last:
        model.to(memory_format=torch.channels_last)
        x = x.to(memory_format=torch.channels_last) if x.dim() == 4 else x
    if compiled:
        model.compile()

    def step():
        start = time.perf_counter()
        y = model(x)
        loss = nn.functional.cross_entropy(y, labels) if classes else nn.functional.mse_loss(y, x)
        forward = time.perf_counter()
        optimizer.zero_grad()
        loss.backward()
        backward = time.perf_counter()
        optimizer.step()
        end = time.perf_counter()
        return [(b - a) * 1e3 for a, b in [(start, forward), (forward, backward), (backward, end)]]

    return step


class Served:
    """A process that makes as many steps as it is asked for, and answers with their times."""

    def __init__(self, command, threads):
        self.process = subprocess.Popen(
            ["taskset", "-c", cores(threads), *command],
            env=os.environ | {"RAYON_NUM_THREADS": str(threads)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )

    def steps(self, count):
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        lines = [self.process.stdout.readline() for _ in range(count)]
        if not lines[-1]:
            sys.exit(f"{self.process.args} ended with {self.process.wait()}")
        return [[float(x) for x in line.split()] for line in lines]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def cores(threads):
    """The first of this machine's cores."""
    return ",".join(map(str, sorted(ALLOWED)[:threads]))


ALLOWED = os.sched_getaffinity(0)


def ours(name, threads):
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return Served([target / "release" / "steps", "--serve", name], threads)


def jax(name, threads):
    return Served([sys.executable, HERE / "steps_jax.py", name], threads)


class Here:
    """Steps of this process."""

    def __init__(self, step):
        self.step = step

    def steps(self, count):
        return [self.step() for _ in range(count)]

    def close(self):
        pass


def peers(name, threads, best):
    """The peers by the names of their forms."""
    if not best:
        return {"PyTorch": Here(pytorch(name))}
    pictures = name in ["cnn", "wrn"]
    forms = {"fused": Here(pytorch(name, fused=True)), "jax": jax(name, threads)}
    if pictures:
        forms["channels-last"] = Here(pytorch(name, fused=True, channels_last=True))
    forms["compiled"] = Here(pytorch(name, fused=True, channels_last=pictures, compiled=True))
    return forms


def medians(times):
    """Of each part, where a peer tells them apart, and of the whole."""
    parts = [statistics.median(part) for part in zip(*times)]
    return [*parts, statistics.median(map(sum, times))]


def timed(name, threads, best, rounds):
    """Medians of ours, and of every peer."""
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    os.sched_setaffinity(0, sorted(ALLOWED)[:threads])
    steps, usual = NETWORKS[name]
    sides = {"here": ours(name, threads)} | peers(name, threads, best)
    times = {side: [] for side in sides}
    for side in sides.values():
        side.steps(3)
    for _ in range(rounds or usual):
        for side, of in sides.items():
            times[side] += of.steps(steps)
    for side in sides.values():
        side.close()
    os.sched_setaffinity(0, ALLOWED)
    found = {side: medians(each) for side, each in times.items()}
    return found.pop("here"), found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--best", action="store_true")
    parser.add_argument("networks", nargs="*", default=list(NETWORKS))
    arguments = parser.parse_args()
    build = ["cargo", "build", "--quiet", "--release", "--bin", "steps"]
    if not os.environ.get("STEPS_BUILT"):
        subprocess.run(build, cwd=ROOT, check=True)
    print(f"PyTorch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}")
    if arguments.best:
        torch.set_flush_denormal(True)
        print(f"{'step, ms':<12} threads      here   fastest  ratio")
    else:
        titles = "".join(f"{part:>20}" for part in [*PARTS, "step"])
        print(f"{'PyTorch / here, ms':<20} threads{titles}  ratio")
    for name in arguments.networks or NETWORKS:
        for threads in map(int, arguments.threads.split(",")):
            here, found = timed(name, threads, arguments.best, arguments.rounds)
            fastest = min(found, key=lambda form: found[form][-1])
            there = found[fastest]
            ratio = f"{there[-1] / here[-1]:.2f}"
            if arguments.best:
                others = ", ".join(f"{form} {each[-1]:.2f}" for form, each in found.items())
                line = f"{name:<12} {threads:>7} {here[-1]:>9.2f} {there[-1]:>9.2f}  {ratio:>5}"
                print(f"{line}  {fastest} ({others})", flush=True)
            else:
                cells = "".join(f"{f'{t:.2f} / {h:.2f}':>20}" for t, h in zip(there, here))
                print(f"{name:<20} {threads:>7}{cells}  {ratio}", flush=True)


if __name__ == "__main__":
    main()
