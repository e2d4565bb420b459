#!/usr/bin/env python3
"""The tweet tagger of section 3.3 in plain PyTorch, to hold `gelu compare tweet-tagger` against.

usage: python3 benches/peers/tweet_tagger.py FOLDER [SEEDS]      (needs torch and numpy)

FOLDER holds tweets-{train,dev,devtest}.txt and one embeddings*.txt.gz. The recipe's settings at the
learning rate 1e-3: two hidden layers of 256, dropout 0.2, weight rows of unit norm, Adam, batches of
16, 30 epochs. Prints the test error in percent after the last epoch and after the epoch with the
lowest validation error, a line per run and the medians. Random numbers are PyTorch's own: only the
spread over seeds can agree.
"""
import gzip
import pathlib
import statistics
import sys

import numpy
import torch
from torch import nn

TAGS = "N O S ^ Z L M V A R ! D P & T X Y # @ ~ U E $ , G".split()
PARTS = ["train", "dev", "devtest"]
ACTIVATIONS = {"GELU": nn.GELU, "ReLU": nn.ReLU, "ELU": nn.ELU}
EPOCHS, BATCH, RATE, WIDTH, DROPOUT = 30, 16, 1e-3, 256, 0.2


def read_vectors(folder):
    (path,) = folder.glob("embeddings*.txt.gz")
    rows = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            word, values = line.rstrip("\n").split("\t")
            rows[word] = numpy.array(values.split(), dtype=numpy.float32)
    return rows


def read_part(path, vectors):
    """Every word of a file as the vectors of its left neighbour, itself and its right one."""
    inputs, labels, unknown_words = [], [], 0
    end, unknown = vectors["</s>"], vectors["UUUNKKK"]
    for tweet in path.read_text(encoding="utf-8").split("\n\n"):
        pairs = [line.split("\t") for line in tweet.splitlines()]
        found = [vectors.get(word, vectors.get(word.lower(), unknown)) for word, _ in pairs]
        unknown_words += sum(vector is unknown for vector in found)
        padded = [end, *found, end]
        inputs += [numpy.concatenate(padded[i : i + 3]) for i in range(len(found))]
        labels += [TAGS.index(tag) for _, tag in pairs]
    print(f"{path.name}: {len(labels)} words, {unknown_words} without a vector")
    return torch.tensor(numpy.array(inputs)), torch.tensor(labels)


def network(activation, features):
    layers = []
    for outputs in (WIDTH, WIDTH):
        layers += [nn.Linear(features, outputs), activation(), nn.Dropout(DROPOUT)]
        features = outputs
    model = nn.Sequential(*layers, nn.Linear(features, len(TAGS)))
    for layer in model:
        if isinstance(layer, nn.Linear):
            nn.init.normal_(layer.weight)
            layer.weight.data /= layer.weight.data.norm(dim=1, keepdim=True)
            nn.init.zeros_(layer.bias)
    return model


def percent_wrong(model, part):
    inputs, labels = part
    with torch.no_grad():
        return 100 * (model(inputs).argmax(1) != labels).float().mean().item()


def train(activation, seed, parts):
    """(validation error, test error) of every epoch"""
    torch.manual_seed(seed)
    inputs, labels = parts["train"]
    model = network(activation, inputs.shape[1])
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    errors = []
    for _ in range(EPOCHS):
        model.train()
        for batch in torch.randperm(len(labels)).split(BATCH):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(inputs[batch]), labels[batch]).backward()
            optimizer.step()
        model.eval()
        errors.append(tuple(percent_wrong(model, parts[part]) for part in ("dev", "devtest")))
    return errors


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder, seeds = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    torch.set_num_threads(1)
    vectors = read_vectors(folder)
    parts = {part: read_part(folder / f"tweets-{part}.txt", vectors) for part in PARTS}
    print(f"PyTorch {torch.__version__}")
    for name, activation in ACTIVATIONS.items():
        last, best = [], []
        for seed in range(1, seeds + 1):
            errors = train(activation, seed, parts)
            last.append(errors[-1][1])
            best.append(min(errors, key=lambda error: error[0])[1])
            print(f"{name} seed {seed}: last epoch {last[-1]:.2f}, best epoch {best[-1]:.2f}")
        for epoch, found in (("last", last), ("best", best)):
            middle = statistics.median(found)
            print(f"{name} {epoch} epoch: {middle:.2f} [{min(found):.2f}-{max(found):.2f}]")


if __name__ == "__main__":
    main()
