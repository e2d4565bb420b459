#!/usr/bin/env python3
"""Runs an hour: the same protocol as `gelu compare`, as PyTorch processes and in JAX, on the same cores.

usage: python3 benches/peers/runs_an_hour.py FOLDER [--epochs N] [--seeds N] [--rounds N] [--gelu PROGRAM]

FOLDER holds MNIST's four IDX files (needs torch, jax, numpy, and `cargo build --release` before). Trains GELU
by the protocol of mnist-script, in turns: our program and PyTorch (mnist_script.py beside this file) with a
run a core, one thread each; JAX (mnist_script_jax.py) with all seeds in one program. Start-up and compilation
count, as whoever waits for them pays them. Prints the seconds of every round, runs an hour by the medians,
and the ratios.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE.parents[1] / "target" / "release" / "gelu"
CORES = len(os.sched_getaffinity(0))


def seconds(work):
    start = time.monotonic()
    work()
    return time.monotonic() - start


def ours(arguments):
    with tempfile.TemporaryDirectory() as folder:
        command = [arguments.gelu, "compare", "mnist-script", "--activations", "gelu"]
        command += ["--epochs", arguments.epochs, "--seeds", arguments.seeds]
        command += ["--jobs", CORES, "--data", arguments.folder, "--out", folder]
        subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)


def pytorch(arguments):
    script = [sys.executable, HERE / "mnist_script.py", arguments.folder]
    script += ["--epochs", arguments.epochs, "--seed"]
    waiting = list(range(1, arguments.seeds + 1))
    while waiting:
        together, waiting = waiting[:CORES], waiting[CORES:]
        processes = [
            subprocess.Popen([str(part) for part in [*script, seed]], stdout=subprocess.DEVNULL)
            for seed in together
        ]
        if any([process.wait() for process in processes]):
            sys.exit("a PyTorch process failed")


def jax(arguments):
    command = [sys.executable, HERE / "mnist_script_jax.py", arguments.folder]
    command += ["--epochs", arguments.epochs, "--seeds", arguments.seeds]
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--gelu", type=pathlib.Path, default=PROGRAM)
    arguments = parser.parse_args()
    rounds = {ours: [], pytorch: [], jax: []}
    for number in range(1, arguments.rounds + 1):
        for side, times in rounds.items():
            times.append(seconds(lambda: side(arguments)))
            print(f"round {number}, {side.__name__}: {times[-1]:.1f} s", flush=True)
    hourly = {side: 3600 * arguments.seeds / statistics.median(t) for side, t in rounds.items()}
    for side in rounds:
        ratio = hourly[ours] / hourly[side]
        print(f"{side.__name__}: {hourly[side]:.0f} runs an hour, ours {ratio:.2f} times as many")


if __name__ == "__main__":
    main()
