#!/usr/bin/env python3
"""How close PyTorch's GELU comes to a copy on a GPU: what `benches/bandwidth.rs` of gelu-core prints of ours.

usage: python3 benches/peers/bandwidth.py [ELEMENTS]      (needs torch with CUDA)

The same elements (2^28), types, passes and rates: a copy and the forward pass move two tensors, the backward
pass three; medians of 15 samples of 10 calls, each with a result of its own.
"""
import statistics
import sys
import time

import torch

SAMPLES = 15
CALLS = 10


def median_seconds(work):
    samples = []
    for sample in range(SAMPLES + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(CALLS):
            work()
        torch.cuda.synchronize()
        if sample > 0:
            samples.append((time.perf_counter() - start) / CALLS)
    return statistics.median(samples)


def main():
    elements = int(sys.argv[1]) if len(sys.argv) > 1 else 2**28
    print(f"{elements} elements on {torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    print(f"{'type':<6} {'pass':<22} {'GB/s':>9} {'to copy':>8}")
    for name, dtype in ("f32", torch.float32), ("f16", torch.float16), ("bf16", torch.bfloat16):
        x = (torch.randn(elements, device="cuda") * 2).to(dtype)
        dy = torch.ones_like(x)
        gigabytes = elements * x.element_size() / 1e9
        copy = 2 * gigabytes / median_seconds(x.clone)
        print(f"{name:<6} {'copy':<22} {copy:>9.1f}")
        for form, of in ("none", "gelu"), ("tanh", "gelu-tanh"):
            passes = {
                "forward": (2, lambda: torch.nn.functional.gelu(x, approximate=form)),
                "backward": (3, lambda: torch.ops.aten.gelu_backward(dy, x, approximate=form)),
            }
            for which, (tensors, work) in passes.items():
                rate = tensors * gigabytes / median_seconds(work)
                print(f"{name:<6} {f'{of} {which}':<22} {rate:>9.1f} {rate / copy:>8.3f}")


if __name__ == "__main__":
    main()
