#!/usr/bin/env python3
"""Runs an hour: the same protocol as `gelu compare` and as PyTorch processes, on the same cores.

usage: python3 benches/peers/runs_an_hour.py FOLDER [--epochs N] [--seeds N] [--rounds N] [--gelu PROGRAM]

FOLDER holds MNIST's four IDX files (needs torch, numpy, and `cargo build --release` before). Trains GELU
by the protocol of mnist-script, two seeds at a time with one thread each, in turns: our program, then
PyTorch (mnist_script.py beside this file). Start-up counts, as whoever waits for it pays it. Prints the
seconds of every round, runs an hour by the medians, and their ratio.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE.parents[1] / "target" / "release" / "gelu"


def seconds(work):
    start = time.monotonic()
    work()
    return time.monotonic() - start


def ours(arguments):
    with tempfile.TemporaryDirectory() as folder:
        command = [arguments.gelu, "compare", "mnist-script", "--activations", "gelu"]
        command += ["--epochs", arguments.epochs, "--seeds", arguments.seeds]
        command += ["--jobs", arguments.seeds, "--data", arguments.folder, "--out", folder]
        subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)


def theirs(arguments):
    script = [sys.executable, HERE / "mnist_script.py", arguments.folder]
    script += ["--epochs", arguments.epochs, "--seed"]
    processes = [
        subprocess.Popen([str(part) for part in [*script, seed]], stdout=subprocess.DEVNULL)
        for seed in range(1, arguments.seeds + 1)
    ]
    if any([process.wait() for process in processes]):
        sys.exit("a PyTorch process failed")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=2, help="runs at a time")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--gelu", type=pathlib.Path, default=PROGRAM)
    arguments = parser.parse_args()
    rounds = {ours: [], theirs: []}
    for number in range(1, arguments.rounds + 1):
        for side, times in rounds.items():
            times.append(seconds(lambda: side(arguments)))
            print(f"round {number}, {side.__name__}: {times[-1]:.1f} s", flush=True)
    hourly = {side: 3600 * arguments.seeds / statistics.median(t) for side, t in rounds.items()}
    print(f"runs an hour: ours {hourly[ours]:.0f}, PyTorch's {hourly[theirs]:.0f}; "
          f"ratio {hourly[ours] / hourly[theirs]:.2f}")


if __name__ == "__main__":
    main()
