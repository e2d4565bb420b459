#!/usr/bin/env python3
"""Times GELU and gated units on the CPU in PyTorch and here, in turns, and prints the ratios.

usage: RAYON_NUM_THREADS=1 python3 benches/peers/pytorch.py [ELEMENTS ...]      (needs torch)

Builds and calls `kernel-times`. Before anything is timed, both are compared on the same inputs with
the exact values: the largest error of each, in units of the last place of f32 (for the tanh form's
derivative next to its zero, of at least 2^-24), stands beside its time. One thread unless RAYON_NUM_THREADS says otherwise. Times are nanoseconds per element, medians
over rounds in which the two take turns; a ratio above 1 means that this crate is faster.
"""
import csv
import io
import os
import pathlib
import statistics
import subprocess
import sys
import time

import torch

ROUNDS = 5
ROOT = pathlib.Path(__file__).resolve().parents[2]
FUNCTIONS = {"gelu": "none", "gelu-tanh": "tanh"}
GATED = {
    "geglu": (torch.nn.functional.gelu, torch.ops.aten.gelu_backward),
    "swiglu": (torch.nn.functional.silu, torch.ops.aten.silu_backward),
}


def exact(x, approximate):
    """Value and derivative in double precision; erfc and expm1 do not cancel as 1 + erf does."""
    x = x.double()
    if approximate == "none":
        cdf = torch.special.erfc(-x / 2**0.5) / 2
        return x * cdf, cdf + x * torch.exp(-x * x / 2) / (2 * torch.pi) ** 0.5
    slope = 2 * (2 / torch.pi) ** 0.5
    u = slope * (x + 0.044715 * x**3)
    up, down = torch.sigmoid(u), torch.sigmoid(-u)
    return x * up, up * (1 + x * slope * (1 + 3 * 0.044715 * x * x) * down)


def ulps(y, reference, least=0.0):
    spacing = torch.exp2(torch.floor(torch.log2(reference.abs())).clamp(min=-126) - 23)
    spacing = torch.maximum(spacing, torch.as_tensor(least, dtype=torch.float64))
    return ((y.double() - reference).abs() / spacing).max().item()


def median_time(work, elements):
    # Samples stay short, so that most of them are not interrupted by another program.
    repeats = max(1, 2**16 // elements)
    for _ in range(20 * repeats):
        work()
    samples = []
    for _ in range(max(20, 2**22 // (repeats * elements))):
        start = time.perf_counter()
        for _ in range(repeats):
            work()
        samples.append((time.perf_counter() - start) / repeats / elements * 1e9)
    return statistics.median(samples)


def pytorch(elements):
    """(function, pass) -> (nanoseconds, ULP)"""
    torch.manual_seed(1)
    x, dy = torch.randn(elements) * 2, torch.ones(elements)
    results = {}
    for name, approximate in FUNCTIONS.items():
        passes = {
            "forward": lambda: torch.nn.functional.gelu(x, approximate=approximate),
            "backward": lambda: torch.ops.aten.gelu_backward(dy, x, approximate=approximate),
        }
        for (of, work), reference in zip(passes.items(), exact(x, approximate)):
            if not torch.allclose(work().double(), reference, atol=1e-5):
                sys.exit(f"PyTorch's {name} {of} is another function")
            near_zero = (x + 0.7524614).abs() < 0.35
            at_least = approximate == "tanh" and of == "backward"
            least = torch.where(near_zero, 2.0**-24, 0.0).double() if at_least else 0.0
            results[name, of] = (median_time(work, elements), ulps(work(), reference, least))
    return results


def gated(elements):
    """(function, pass) -> (nanoseconds, no ULP)"""
    columns = min(elements, 4096)
    if elements % columns:
        return {}
    torch.manual_seed(1)
    x = torch.randn(elements // columns, 2 * columns) * 2
    dy = torch.ones(elements // columns, columns)
    results = {}
    for name, (function, derivative) in GATED.items():
        def forward():
            gate, value = x.chunk(2, dim=-1)
            return function(gate) * value

        activated = function(x[:, :columns])

        def backward():
            gate, value = x.chunk(2, dim=-1)
            return torch.cat([derivative(dy * value, gate), dy * activated], dim=-1)

        tracked = x.clone().requires_grad_()
        gate, value = tracked.chunk(2, dim=-1)
        (function(gate) * value).backward(dy)
        if not torch.allclose(backward(), tracked.grad, atol=1e-5):
            sys.exit(f"{name}'s composed gradient is another one")
        for of, work in (("forward", forward), ("backward", backward)):
            results[name, of] = (median_time(work, elements), float("nan"))
    return results


def ours(elements):
    command = ["cargo", "run", "--quiet", "--release", "--bin", "kernel-times"]
    output = subprocess.run(
        [*command, "--", str(elements)], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    return {
        (row["function"], row["pass"]): (float(row["ns"]), float(row["ulps"] or "nan"))
        for row in csv.DictReader(io.StringIO(output))
        if row["function"] in {*FUNCTIONS, *GATED} and row["pass"] != "both"
    }


def main():
    sizes = [int(argument) for argument in sys.argv[1:]] or [2**12, 2**14, 2**20, 2**24]
    os.environ.setdefault("RAYON_NUM_THREADS", "1")
    torch.set_num_threads(int(os.environ["RAYON_NUM_THREADS"]))
    capability = torch.backends.cpu.get_cpu_capability()
    print(f"PyTorch {torch.__version__}, {capability}, {torch.get_num_threads()} thread(s)")
    print(f"{'elements':>9} {'function':<10} {'pass':<9} {'here ns':>8} {'torch ns':>9} "
          f"{'ratio':>6} {'here ULP':>9} {'torch ULP':>10}")
    for elements in sizes:
        rounds = [(ours(elements), pytorch(elements) | gated(elements)) for _ in range(ROUNDS)]
        total = [0.0, 0.0]
        for key in rounds[0][0]:
            here, torch_ = (
                statistics.median(each[side][key][0] for each in rounds) for side in (0, 1)
            )
            errors = [max(each[side][key][1] for each in rounds) for side in (0, 1)]
            total = [total[0] + here, total[1] + torch_]
            print(f"{elements:>9} {key[0]:<10} {key[1]:<9} {here:>8.3f} {torch_:>9.3f} "
                  f"{torch_ / here:>6.2f} {errors[0]:>9.2f} {errors[1]:>10.3g}")
            if key[1] == "backward":
                print(f"{'':>9} {key[0]:<10} {'both':<9} {total[0]:>8.3f} {total[1]:>9.3f} "
                      f"{total[1] / total[0]:>6.2f}")
                total = [0.0, 0.0]


if __name__ == "__main__":
    main()
