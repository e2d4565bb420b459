#!/usr/bin/env python3
"""Times training steps of the paper's networks in peers and here, in turns, and prints the ratios.

usage: python3 benches/peers/steps.py [--threads 1,2] [--rounds N] [--best] [--inference 1,1000] [NETWORK ...]

Needs torch; `--best` needs jax, too. Networks, batches, dropout and optimisers are those of the recipes.
Without flags the peer is PyTorch as most people write it. With `--best` it is whichever is fastest of:

    fused          PyTorch, its optimiser in one pass
    channels-last  the same, pictures channels-last
    compiled       the same by `torch.compile`, of pictures channels-last
    jax            JAX, a whole step compiled (`steps_jax.py`)

in which PyTorch takes subnormal numbers as 0, as JAX and this code do. With `--inference` it times no steps
but outputs of networks that are trained, for so many examples at once, beside the fastest of those forms.

Builds and starts `steps`, whose process and the peers take turns of a few steps, each after a pause; each is
kept to as many cores as it has threads, since JAX has no setting for them. Times are milliseconds, medians over all steps; a ratio is the peer's time over
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

# name: steps per turn, rounds
NETWORKS = {
    "classifier": (40, 7),
    "autoencoder": (10, 7),
    "tagger": (100, 7),
    "frames": (1, 6),
    "cnn": (1, 4),
    "wrn": (1, 5),
    "gpt": (5, 7),
}
# Networks of images, whose channels may be the first or the last dimension.
PICTURES = ["cnn", "wrn"]
PARTS = ["forward", "backward", "optimiser"]
# Seconds before a turn in which spinning threads go to sleep.
PAUSE = 0.05


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


def network(name, examples=None):
    """A network, inputs and what is due for them, as many as in a step unless that is said; and whether that is
    classes."""
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
        model, shape, classes = Cnn(96, 192, 10, gelu), (100, 3, 32, 32), 10
    elif name == "wrn":
        model, shape, classes = WideResNet(PaperBlock, 6, 16, 4, 100, gelu), (16, 3, 32, 32), 100
    elif name == "gpt":
        model, shape, classes = Gpt(65, 64, 4, 128, 4, NORMS["layer"], FeedForward, gelu), (12, 64), 65
    else:
        sys.exit(f"there is no network {name}, but {', '.join(NETWORKS)}")
    shape = (examples or shape[0], *shape[1:])
    x, labels = torch.rand(shape), torch.randint(classes or 2, (shape[0],))
    if name == "gpt":
        x, labels = torch.randint(65, shape), torch.randint(65, (shape[0] * shape[1],))
    return model, x, labels, classes


def in_form(model, x, channels_last, compiled):
    """The same in the form of a peer."""
    if channels_last:
        model.to(memory_format=torch.channels_last)
        x = x.to(memory_format=torch.channels_last) if x.dim() == 4 else x
    if compiled:
        model.compile()
    return model, x


def pytorch(name, fused=None, channels_last=False, compiled=False):
    """A function that makes a step and gives the milliseconds of its parts."""
    Cnn.forward, PaperBlock.forward = cnn_forward, block_forward
    model, x, labels, classes = network(name)
    optimizer = {"wrn": sgd, "gpt": adamw}.get(name, adam)(model, fused)
    model, x = in_form(model, x, channels_last, compiled)

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


def inference(name, examples, channels_last=False, compiled=False):
    """A function that computes the output for so many examples and gives its milliseconds."""
    model, x, _, _ = network(name, examples)
    model, x = in_form(model.eval(), x, channels_last, compiled)

    def compute():
        start = time.perf_counter()
        with torch.inference_mode():
            model(x)
        return [(time.perf_counter() - start) * 1e3]

    return compute


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


def ours(name, threads, examples):
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    command = [target / "release" / "steps", "--serve", name, *asked(examples)]
    return Served(command, threads)


def jax(name, threads, examples):
    return Served([sys.executable, HERE / "steps_jax.py", name, *asked(examples)], threads)


def asked(examples):
    return [str(examples)] if examples else []


class Here:
    """Steps of this process."""

    def __init__(self, step):
        self.step = step

    def steps(self, count):
        return [self.step() for _ in range(count)]

    def close(self):
        pass


def peers(name, threads, best, examples):
    """The peers by the names of their forms."""
    if not best:
        return {"PyTorch": Here(pytorch(name))}
    pictures = name in PICTURES

    def form(**how):
        return Here(inference(name, examples, **how) if examples else pytorch(name, fused=True, **how))

    forms = {"eager" if examples else "fused": form(), "jax": jax(name, threads, examples)}
    if pictures:
        forms["channels-last"] = form(channels_last=True)
    forms["compiled"] = form(channels_last=pictures, compiled=True)
    return forms


def medians(times):
    """Of each part, where a peer tells them apart, and of the whole."""
    parts = [statistics.median(part) for part in zip(*times)]
    return [*parts, statistics.median(map(sum, times))]


def timed(name, threads, best, rounds, examples=None):
    """Medians of ours, and of every peer."""
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    os.sched_setaffinity(0, sorted(ALLOWED)[:threads])
    steps, usual = NETWORKS[name]
    sides = {"here": ours(name, threads, examples)} | peers(name, threads, best, examples)
    times = {side: [] for side in sides}
    for side in sides.values():
        side.steps(1 if examples else 3)
    if examples:
        # Turns of a third of a second, or one output.
        took = sum(sides["here"].steps(1)[0])
        steps, usual = max(1, min(300, round(300 / took))), 7 if took < 300 else 2
    for _ in range(rounds or usual):
        for side, of in sides.items():
            time.sleep(PAUSE)
            times[side] += of.steps(steps)
    for side in sides.values():
        side.close()
    os.sched_setaffinity(0, ALLOWED)
    found = {side: medians(each) for side, each in times.items()}
    return found.pop("here"), found


def print_fastest(of, threads, here, found):
    fastest = min(found, key=lambda form: found[form][-1])
    there = found[fastest]
    others = ", ".join(f"{form} {each[-1]:.2f}" for form, each in found.items())
    line = f"{of} {threads:>7} {here[-1]:>9.2f} {there[-1]:>9.2f}  {there[-1] / here[-1]:>5.2f}"
    print(f"{line}  {fastest} ({others})", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--best", action="store_true")
    parser.add_argument("--inference", metavar="EXAMPLES,...")
    parser.add_argument("networks", nargs="*", default=list(NETWORKS))
    arguments = parser.parse_args()
    build = ["cargo", "build", "--quiet", "--release", "--bin", "steps"]
    if not os.environ.get("STEPS_BUILT"):
        subprocess.run(build, cwd=ROOT, check=True)
    print(f"PyTorch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}")
    torch.set_flush_denormal(arguments.best or bool(arguments.inference))
    numbers = [int(examples) for examples in (arguments.inference or "").split(",") if examples]
    if numbers:
        print(f"{'output, ms':<12} examples threads      here   fastest  ratio")
    elif arguments.best:
        print(f"{'step, ms':<12} threads      here   fastest  ratio")
    else:
        titles = "".join(f"{part:>20}" for part in [*PARTS, "step"])
        print(f"{'PyTorch / here, ms':<20} threads{titles}  ratio")
    for name in arguments.networks or NETWORKS:
        for threads in map(int, arguments.threads.split(",")):
            for examples in numbers:
                here, found = timed(name, threads, True, arguments.rounds, examples)
                print_fastest(f"{name:<12} {examples:>8}", threads, here, found)
            if numbers:
                continue
            here, found = timed(name, threads, arguments.best, arguments.rounds)
            if arguments.best:
                print_fastest(f"{name:<12}", threads, here, found)
                continue
            there = found["PyTorch"]
            cells = "".join(f"{f'{t:.2f} / {h:.2f}':>20}" for t, h in zip(there, here))
            print(f"{name:<20} {threads:>7}{cells}  {there[-1] / here[-1]:.2f}", flush=True)


if __name__ == "__main__":
    main()
