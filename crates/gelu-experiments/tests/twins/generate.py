#!/usr/bin/env python3
"""Writes the reference files beside this script: tiny PyTorch twins, trained for some steps.

    python3 generate.py        (needs PyTorch; made with 2.15)

A file <network>.safetensors holds, by name,

    model.<name>       the twin's state_dict before the first step
    inputs, targets    the batches, [steps, batch, ...]
    rates              the learning rate of each step, from the schedule's definition
    losses             the training loss of each step, and after the last the evaluation loss of the
                       first batch: it hangs on every step before it, and on the running means
                       (not of the CNN: the gradient of its biases, which lie before batch norms, is
                       zero but for rounding, and Adam makes whole steps of that)

The optimisers are PyTorch's, with the constants of the recipes, but for the CNN's Adam, whose
epsilon is inside the root; everything is computed in f64. There
is no dropout and no noise: they are random. The running variance of batch norm is Burn's, the mean
square of n numbers; PyTorch's own divides by n - 1, which tells at n = 6.
"""

import math
import pathlib
import sys

import torch
from torch import nn

FOLDER = pathlib.Path(__file__).parent
sys.path.insert(0, str(FOLDER.parents[2] / "gelu-models" / "tests" / "pytorch"))

from generate import (  # noqa: E402
    NORMS, Autoencoder, Cnn, FeedForward, Gpt, Mlp, PaperBlock, WideResNet, save,
)

EPOCHS, BATCHES = 4, 2
CLIP_NORM = 4.0


def batch_norm(self, x):
    parameters = self.weight, self.bias
    if not self.training:
        means = self.running_mean, self.running_var
        return nn.functional.batch_norm(x, *means, *parameters, False, 0, self.eps)
    with torch.no_grad():
        self.running_mean.lerp_(x.mean((0, 2, 3)), self.momentum)
        self.running_var.lerp_(x.var((0, 2, 3), correction=0), self.momentum)
    return nn.functional.batch_norm(x, None, None, *parameters, True, 0, self.eps)


nn.BatchNorm2d.forward = batch_norm


def adam(model):
    return torch.optim.Adam(model.parameters(), betas=(0.9, 0.999), eps=1e-8)


class AdamInside(torch.optim.Optimizer):
    """Adam with its epsilon inside the root, which PyTorch does not have."""

    def __init__(self, parameters, betas, eps):
        super().__init__(parameters, {"lr": 1.0, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta_1, beta_2 = group["betas"]
            for parameter in group["params"]:
                state = self.state[parameter]
                if not state:
                    state |= {"step": 0, "m": torch.zeros_like(parameter)}
                    state["v"] = torch.zeros_like(parameter)
                state["step"] += 1
                state["m"].lerp_(parameter.grad, 1 - beta_1)
                state["v"].lerp_(parameter.grad.square(), 1 - beta_2)
                m = state["m"] / (1 - beta_1 ** state["step"])
                v = state["v"] / (1 - beta_2 ** state["step"])
                parameter -= group["lr"] * m / torch.sqrt(v + group["eps"])


def adam_inside(model):
    return AdamInside(model.parameters(), betas=(0.9, 0.999), eps=1e-8)


def sgd(model):
    """Nesterov; the loss gets 5e-4 times the squares of weights and scales, not of biases."""
    penalised = lambda name: name.endswith("weight")
    groups = [
        {"params": [p for n, p in model.named_parameters() if penalised(n)], "weight_decay": 1e-3},
        {"params": [p for n, p in model.named_parameters() if not penalised(n)]},
    ]
    return torch.optim.SGD(groups, lr=1, momentum=0.9, nesterov=True)


def adamw(model):
    """Matrices decay and scales do not, as in nanoGPT."""
    groups = [
        {"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": 0.1},
        {"params": [p for p in model.parameters() if p.dim() == 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, betas=(0.9, 0.99), eps=1e-8)


def constant(_step):
    return 1.0


def constant_then_linear(step):
    epoch = step // BATCHES
    return min(2 - 2 * epoch / EPOCHS, 1)


def cosine(step):
    return 0.5 * (1 + math.cos(math.pi * step / (EPOCHS * BATCHES)))


def warmup_cosine(step, warmup=3, floor=0.1):
    if step < warmup:
        return (step + 1) / (warmup + 1)
    share = (step - warmup) / (EPOCHS * BATCHES - warmup)
    return floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * share))


def train_gpt():
    """Its gradients are clipped, in some steps and not in all."""
    steps, batch, context, vocabulary = EPOCHS * BATCHES, 3, 6, 7
    model = Gpt(vocabulary, context, 2, 8, 2, NORMS["layer"], FeedForward, nn.GELU())
    tensors = {f"model.{key}": value.clone() for key, value in model.state_dict().items()}
    tensors["inputs"] = torch.randint(vocabulary, (steps, batch, context))
    tensors["targets"] = torch.randint(vocabulary, (steps, batch * context))
    rates = [1e-2 * warmup_cosine(step) for step in range(steps)]
    model = model.double()
    optimizer = adamw(model)

    def loss_of(step):
        logits = model(tensors["inputs"][step])
        return nn.functional.cross_entropy(logits, tensors["targets"][step])

    losses, norms = [], []
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rates[step]
        optimizer.zero_grad()
        loss = loss_of(step)
        loss.backward()
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), CLIP_NORM).item())
        optimizer.step()
        losses.append(loss.item())
    assert min(norms) < CLIP_NORM < max(norms), norms
    losses.append(loss_of(0).item())
    tensors |= {"rates": torch.tensor(rates), "losses": torch.tensor(losses)}
    save(FOLDER / "gpt.safetensors", tensors)


def train(name, model, shape, classes, optimizer, rate, schedule, late_beta_1=0.9, evaluate=True):
    steps = EPOCHS * BATCHES
    tensors = {f"model.{key}": value.clone() for key, value in model.state_dict().items()}
    tensors["inputs"] = torch.randn((steps, *shape))
    tensors["targets"] = torch.randint(classes or 2, (steps, shape[0]))
    rates = [rate * schedule(step) for step in range(steps)]
    model = model.double()
    optimizer = optimizer(model)

    def loss_of(step):
        inputs, targets = tensors["inputs"][step].double(), tensors["targets"][step]
        outputs = model(inputs)
        if classes is None:
            return nn.functional.mse_loss(outputs, inputs)
        return nn.functional.cross_entropy(outputs, targets)

    losses = []
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rates[step]
            if "betas" in group and step >= steps // 2:
                group["betas"] = (late_beta_1, 0.999)
        optimizer.zero_grad()
        loss = loss_of(step)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if evaluate:
        model.eval()
        losses.append(loss_of(0).item())
    tensors |= {"rates": torch.tensor(rates), "losses": torch.tensor(losses)}
    save(FOLDER / f"{name}.safetensors", tensors)


def main():
    torch.manual_seed(1606_08415)
    gelu = nn.GELU()
    train("classifier", Mlp([6, 8, 8, 8, 5], gelu), (7, 6), 5, adam, 1e-2, constant)
    train("autoencoder", Autoencoder([9, 7, 5, 3], gelu), (6, 9), None, adam, 1e-2, constant)
    cnn = Cnn(3, 4, 5, gelu)
    schedule = constant_then_linear
    train("cnn", cnn, (6, 3, 14, 14), 5, adam_inside, 1e-2, schedule, late_beta_1=0.5, evaluate=False)
    wrn = WideResNet(PaperBlock, 1, 16, 1, 5, gelu)
    train("wide-resnet", wrn, (6, 3, 8, 8), 5, sgd, 0.1, cosine)
    train_gpt()


if __name__ == "__main__":
    main()
