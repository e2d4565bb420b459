"""Writes optimizers.csv: what PyTorch's Adam and SGD make of a weight in f64, step by step.

usage: python3 optimizers.py > optimizers.csv      (needs torch)

The gradients are g(t, i) = sin(1.7·t + i) / (1 + i); weights start at cos(i). PyTorch has no Adam
with its epsilon inside the root,
so that one is written out here.
"""
import math

import torch

SIZE, STEPS = 5, 6


def gradient(step):
    return torch.tensor([math.sin(1.7 * step + i) / (1 + i) for i in range(SIZE)], dtype=torch.float64)


def start():
    return torch.tensor([math.cos(i) for i in range(SIZE)], dtype=torch.float64)


def train(optimizer):
    weight = torch.nn.Parameter(start())
    optimizer = optimizer([weight])
    for step in range(1, STEPS + 1):
        weight.grad = gradient(step)
        optimizer.step()
        yield weight.detach()


def adam_inside(rate, beta_1, beta_2, epsilon):
    weight, m, v = start(), torch.zeros(SIZE, dtype=torch.float64), torch.zeros(SIZE, dtype=torch.float64)
    for step in range(1, STEPS + 1):
        g = gradient(step)
        m, v = beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * g * g
        first, second = m / (1 - beta_1**step), v / (1 - beta_2**step)
        weight = weight - rate * first / torch.sqrt(second + epsilon)
        yield weight


def main():
    runs = {
        "adam": train(lambda w: torch.optim.Adam(w, lr=0.1, betas=(0.9, 0.999), eps=1e-8)),
        "adam-other-betas": train(lambda w: torch.optim.Adam(w, lr=0.01, betas=(0.5, 0.9), eps=1e-3)),
        "adam-inside": adam_inside(0.1, 0.9, 0.999, 1e-2),
        "adam-penalty": train(lambda w: torch.optim.Adam(w, lr=0.1, weight_decay=0.05)),
        "amsgrad": train(lambda w: torch.optim.Adam(w, lr=0.1, betas=(0.9, 0.9), amsgrad=True)),
        "adamw": train(lambda w: torch.optim.AdamW(w, lr=0.1)),
        "adamw-amsgrad": train(
            lambda w: torch.optim.AdamW(w, lr=0.1, betas=(0.9, 0.9), weight_decay=0.2, amsgrad=True)
        ),
        "sgd": train(lambda w: torch.optim.SGD(w, lr=0.1, momentum=0.9)),
        "sgd-nesterov": train(
            lambda w: torch.optim.SGD(w, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.05)
        ),
        "sgd-dampened": train(
            lambda w: torch.optim.SGD(w, lr=0.1, momentum=0.9, dampening=0.3, weight_decay=0.05)
        ),
        "sgd-dampened-plain": train(lambda w: torch.optim.SGD(w, lr=0.1, dampening=0.3, weight_decay=0.05)),
        "sgd-plain": train(lambda w: torch.optim.SGD(w, lr=0.1, weight_decay=0.05)),
    }
    print("optimizer,step,weights")
    for name, weights in runs.items():
        for step, weight in enumerate(weights, 1):
            print(f"{name},{step}," + " ".join(repr(x) for x in weight.tolist()))


if __name__ == "__main__":
    main()
