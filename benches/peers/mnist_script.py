#!/usr/bin/env python3
"""The protocol of `gelu compare mnist-script` in plain PyTorch: what the 100-line script trains.

usage: python3 benches/peers/mnist_script.py FOLDER [--activation gelu|relu] [--seed N] [--epochs N] [--threads N]

FOLDER holds MNIST's four IDX files, gzipped or not (needs torch and numpy). 784 - 8 x [128, activation,
dropout 0.5] - 10, weight rows of unit norm, Adam at 1e-4, batches of 64, pixels from -1 to 1; pictures
come one by one from a shuffling DataLoader, as in the script. Prints an epoch a line: mean loss of the
training batches with dropout on, and loss on the test set. Random numbers are PyTorch's own: only the
spread over seeds can agree.
"""
import argparse
import gzip
import pathlib

import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader


class Gelu(nn.Module):
    """The exact form, composed of tensor operations as the script has it."""

    def forward(self, x):
        return 0.5 * x * (1 + torch.erf(x / 2**0.5))


ACTIVATIONS = {"gelu": Gelu, "relu": nn.ReLU}


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
    return pixels.reshape(len(pixels), -1), read_idx(folder, f"{part}-labels").astype(numpy.int64)


def network(activation):
    layers, inputs = [], 28 * 28
    for _ in range(8):
        layers += [nn.Linear(inputs, 128), activation(), nn.Dropout(0.5)]
        inputs = 128
    layers += [nn.Linear(inputs, 10), nn.LogSoftmax(dim=-1)]
    for layer in layers:
        if isinstance(layer, nn.Linear):
            nn.init.normal_(layer.weight)
            layer.weight.data = nn.functional.normalize(layer.weight.data)
            nn.init.zeros_(layer.bias)
    return nn.Sequential(*layers)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--activation", choices=ACTIVATIONS, default="gelu")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=150)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)
    train = list(zip(*read_part(arguments.folder, "train")))
    pixels, labels = map(torch.from_numpy, read_part(arguments.folder, "t10k"))
    model = network(ACTIVATIONS[arguments.activation])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    log_loss = nn.NLLLoss()
    for epoch in range(1, arguments.epochs + 1):
        model.train()
        losses = []
        for inputs, targets in DataLoader(train, batch_size=64, shuffle=True):
            loss = log_loss(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            test = log_loss(model(pixels), labels).item()
        print(f"{epoch} train {numpy.mean(losses):.4f} test {test:.4f}", flush=True)


if __name__ == "__main__":
    main()
