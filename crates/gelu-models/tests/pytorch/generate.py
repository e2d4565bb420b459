#!/usr/bin/env python3
"""Writes the reference files beside this script: tiny PyTorch twins of the networks.

    python3 generate.py                      (needs PyTorch; made with 2.15)
    python3 generate.py FOLDER PICTURES      the same of the convolutional networks at full size, on the
                                             first pictures of CIFAR-10 (a data_batch_1.bin)

The first also prints the parameter counts of the full-size networks; what the second writes is read by
`GELU_FULL_SIZE=FOLDER cargo test --release --test pytorch`.

A file <network>-<activation>.safetensors holds, by name,

    model.<name>       the twin's state_dict: parameters, running means and variances
    input, target      one batch; targets are class indices, or missing for the autoencoder; a GPT's inputs
                       are tokens, and its targets those that follow each of them
    train.logits       the output in training mode (a batch norm uses the batch's statistics)
    eval.logits        the output in evaluation mode (a batch norm uses the running ones)
    loss               of train.logits: mean cross entropy, or mean squared error to the input
    gradient.<name>    of the loss, for every parameter

Weights and inputs are drawn in f32; everything is computed from them in f64, so the references
carry none of PyTorch's own f32 rounding (its exact GELU cancels for negative inputs). There is no
dropout and no noise: they are random. At full size there is `single` too: how far PyTorch's own f32 is from
that, the largest difference relative to the largest entry of its tensor.
"""

import copy
import json
import pathlib
import struct
import sys

import torch
from torch import nn

FOLDER = pathlib.Path(__file__).parent
ACTIVATIONS = {
    "gelu": nn.GELU(),
    "gelu-tanh": nn.GELU(approximate="tanh"),
    "relu": nn.ReLU(),
    "elu": nn.ELU(),
    "silu": nn.SiLU(),
}


class HiddenLayer(nn.Module):
    def __init__(self, inputs, outputs, activation):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.activation = activation

    def forward(self, x):
        return self.activation(self.linear(x))


class Mlp(nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        pairs = zip(sizes[:-2], sizes[1:-1])
        self.hidden = nn.ModuleList(HiddenLayer(a, b, activation) for a, b in pairs)
        self.output = nn.Linear(sizes[-2], sizes[-1])

    def forward(self, x):
        for layer in self.hidden:
            x = layer(x)
        return self.output(x)


class Autoencoder(nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        back = sizes[::-1]
        self.encoder = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:]))
        self.decoder = nn.ModuleList(nn.Linear(a, b) for a, b in zip(back[:-1], back[1:]))
        self.activation = activation

    def forward(self, x):
        layers = [*self.encoder, *self.decoder]
        for layer in layers[:-1]:
            x = self.activation(layer(x))
        return layers[-1](x)


class ConvolutionBlock(nn.Module):
    def __init__(self, inputs, outputs, kernel, padding):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, padding=padding, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x):
        return self.norm(self.conv(x))


class Cnn(nn.Module):
    def __init__(self, narrow, wide, classes, activation):
        super().__init__()
        sizes = [
            [(3, narrow, 3, 1), (narrow, narrow, 3, 1), (narrow, narrow, 3, 1)],
            [(narrow, wide, 3, 1), (wide, wide, 3, 1), (wide, wide, 3, 1)],
            [(wide, wide, 3, 0), (wide, wide, 1, 0), (wide, wide, 1, 0)],
        ]
        self.stages = nn.ModuleList(
            nn.ModuleList(ConvolutionBlock(*size) for size in stage) for stage in sizes
        )
        self.output = nn.Linear(wide, classes, bias=False)
        self.output_norm = nn.BatchNorm1d(classes)
        self.activation = activation

    def forward(self, x):
        for index, stage in enumerate(self.stages):
            for block in stage:
                x = self.activation(block(x))
            if index < 2:
                x = nn.functional.max_pool2d(x, 2)
        return self.output_norm(self.output(x.mean((2, 3))))


class PaperBlock(nn.Module):
    def __init__(self, inputs, outputs, stride, first, activation):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.norms = nn.ModuleList([nn.BatchNorm2d(outputs)])
        if first:
            self.shortcut = nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False)
        self.first = first
        self.activation = activation

    def forward(self, x):
        y = self.activation(self.conv2(self.activation(self.conv1(x))))
        return self.norms[0](y) + (self.shortcut(x) if self.first else x)


class PreActivationBlock(nn.Module):
    def __init__(self, inputs, outputs, stride, _first, activation):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(inputs), nn.BatchNorm2d(outputs)])
        self.widens = inputs != outputs
        if self.widens:
            self.shortcut = nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False)
        self.activation = activation

    def forward(self, x):
        h = self.activation(self.norms[0](x))
        y = self.conv2(self.activation(self.norms[1](self.conv1(h))))
        return y + (self.shortcut(h) if self.widens else x)


class WideResNet(nn.Module):
    def __init__(self, block, blocks, stem, width, classes, activation):
        super().__init__()
        self.stem = nn.Conv2d(3, stem, 3, padding=1, bias=False)
        norms = 2 if block is PaperBlock else 0
        self.stem_norms = nn.ModuleList(nn.BatchNorm2d(stem) for _ in range(norms))
        groups, inputs = [], stem
        for factor, stride in [(1, 1), (2, 2), (4, 2)]:
            outputs = factor * width * stem
            group = [block(inputs, outputs, stride, True, activation)]
            group += [block(outputs, outputs, 1, False, activation) for _ in range(blocks - 1)]
            groups.append(nn.ModuleList(group))
            inputs = outputs
        self.groups = nn.ModuleList(groups)
        self.norm = nn.BatchNorm2d(inputs)
        self.output = nn.Linear(inputs, classes)
        self.activation = activation

    def forward(self, x):
        x = self.stem(x)
        if self.stem_norms:
            x = self.stem_norms[1](self.activation(self.stem_norms[0](x)))
        for group in self.groups:
            for block in group:
                x = block(x)
        return self.output(self.activation(self.norm(x)).mean((2, 3)))


class PatchWhitening(nn.Module):
    """Filters that are not trained, and their negation."""

    def __init__(self, channels):
        super().__init__()
        self.register_buffer("weight", torch.empty(4 * channels, channels, 2, 2))
        self.register_buffer("bias", torch.empty(4 * channels))

    def forward(self, x):
        white = nn.functional.conv2d(x, self.weight, self.bias)
        return torch.cat([white, -white], 1)


class AirbenchBlock(nn.Module):
    def __init__(self, inputs, outputs, activation):
        super().__init__()
        self.convolutions = nn.ModuleList(
            nn.Conv2d(channels, outputs, 3, padding=1, bias=False) for channels in (inputs, outputs)
        )
        self.norms = nn.ModuleList(nn.BatchNorm2d(outputs) for _ in range(2))
        self.activation = activation

    def forward(self, x):
        x = nn.functional.max_pool2d(self.convolutions[0](x), 2)
        x = self.activation(self.norms[0](x))
        return self.activation(self.norms[1](self.convolutions[1](x)))


class Airbench(nn.Module):
    def __init__(self, channels, widths, classes, activation):
        super().__init__()
        self.whitening = PatchWhitening(channels)
        inputs = [8 * channels, *widths]
        self.blocks = nn.ModuleList(
            AirbenchBlock(a, b, activation) for a, b in zip(inputs, widths)
        )
        self.output = nn.Linear(inputs[-1], classes, bias=False)
        self.activation = activation

    def forward(self, x):
        x = self.activation(self.whitening(x))
        for block in self.blocks:
            x = block(x)
        return self.output(x.amax((2, 3))) / 9


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.output = nn.Linear(width, width, bias=False)
        self.heads = heads

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            part.reshape(batch, length, self.heads, -1).transpose(1, 2)
            for part in self.qkv(x).split(width, 2)
        )
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.output(y.transpose(1, 2).reshape(batch, length, width))


class FeedForward(nn.Module):
    def __init__(self, width, activation):
        super().__init__()
        self.linear_inner = nn.Linear(width, 4 * width, bias=False)
        self.linear_outer = nn.Linear(4 * width, width, bias=False)
        self.activation = activation

    def forward(self, x):
        return self.linear_outer(self.activation(self.linear_inner(x)))


class GatedFeedForward(nn.Module):
    def __init__(self, width, activation):
        super().__init__()
        self.hidden = round(8 * width / 3)
        self.gate_up = nn.Linear(width, 2 * self.hidden, bias=False)
        self.down = nn.Linear(self.hidden, width, bias=False)
        self.activation = activation

    def forward(self, x):
        gate, up = self.gate_up(x).split(self.hidden, -1)
        return self.down(self.activation(gate) * up)


class PolyNorm(nn.Module):
    """Zhuo and others, arXiv 2411.03884."""

    def __init__(self, epsilon=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.full((3,), 1 / 3))
        self.bias = nn.Parameter(torch.zeros(1))
        self.epsilon = epsilon

    def forward(self, x):
        powers = [x**3, x**2, x]
        means = [(power**2).mean(-1, keepdim=True) for power in powers]
        normed = [power / (mean + self.epsilon).sqrt() for power, mean in zip(powers, means)]
        return sum(weight * term for weight, term in zip(self.weight, normed)) + self.bias


class NormedFeedForward(nn.Module):
    def __init__(self, width, _):
        super().__init__()
        self.linear_inner = nn.Linear(width, 4 * width, bias=False)
        self.norm = PolyNorm()
        self.linear_outer = nn.Linear(4 * width, width, bias=False)

    def forward(self, x):
        return self.linear_outer(self.norm(self.linear_inner(x)))


class GptBlock(nn.Module):
    def __init__(self, width, heads, norm, mlp, activation):
        super().__init__()
        self.attention_norm, self.mlp_norm = norm(width), norm(width)
        self.attention = Attention(width, heads)
        self.mlp = mlp(width, activation)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.mlp(self.mlp_norm(x))


class Gpt(nn.Module):
    """Its logits have a row for every place of the batch, one text after the other."""

    def __init__(self, vocabulary, context, layers, width, heads, norm, mlp, activation):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(
            GptBlock(width, heads, norm, mlp, activation) for _ in range(layers)
        )
        self.norm = norm(width)

    def forward(self, tokens):
        tokens = tokens.long()
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return (self.norm(x) @ self.tokens.weight.T).flatten(0, 1)


NORMS = {
    "layer": lambda width: nn.LayerNorm(width, eps=1e-5, bias=False),
    "rms": lambda width: nn.RMSNorm(width, eps=1e-5),
}


def randomise(model):
    """Gives every bias, scale and running statistic a value that shows when it is misplaced, and
    weights large enough to reach the activations' curved parts."""
    for name, tensor in model.state_dict().items():
        if name.endswith("num_batches_tracked"):
            continue
        if name.endswith("running_var") or (tensor.dim() == 1 and name.endswith("weight")):
            tensor.uniform_(0.5, 1.5)
        elif tensor.dim() == 1:
            tensor.uniform_(-0.5, 0.5)
        else:
            nn.init.kaiming_normal_(tensor)


def save(path, tensors):
    """The safetensors format: length of the header, JSON header, bytes one after the other."""
    header, data = {}, b""
    for name, tensor in tensors.items():
        kind = {torch.float32: "F32", torch.int64: "I64"}[tensor.dtype]
        raw = tensor.detach().contiguous().numpy().tobytes()
        offsets = [len(data), len(data) + len(raw)]
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": offsets}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def reference(name, model, shape, classes):
    """One random batch through a twin with random weights; classes None: the loss is the MSE."""
    randomise(model)
    batch = 2 * torch.randn(shape)
    target = None if classes is None else torch.randint(classes, (shape[0],))
    write(FOLDER / f"{name}.safetensors", model, batch, target)


def results(model, batch, target):
    """What the twin makes of a batch, computed in the batch's type, as f32."""
    found = {}
    model.eval()
    found["eval.logits"] = model(batch).float()
    model.train()
    logits = model(batch)
    if target is None:
        loss = nn.functional.mse_loss(logits, batch)
    else:
        loss = nn.functional.cross_entropy(logits, target)
    loss.backward()
    found |= {"train.logits": logits.float(), "loss": loss.float().reshape(1)}
    for key, parameter in model.named_parameters():
        found[f"gradient.{key}"] = parameter.grad.float()
    return found


def write(path, model, batch, target, more={}):
    """Runs a batch through a twin and writes its file."""
    tensors = {f"model.{key}": value.clone() for key, value in model.state_dict().items()}
    tensors |= {"input": batch} if target is None else {"input": batch, "target": target}
    save(path, tensors | more | results(model.double(), batch.double(), target))


def distance(found, expected):
    """The largest difference, relative to the largest entry of its tensor; tensors of zeros left out."""
    largest = {name: tensor.abs().max() for name, tensor in expected.items()}
    return max(
        ((found[name] - tensor).abs().max() / largest[name]).item()
        for name, tensor in expected.items()
        if largest[name] > 1e-7
    )


def full_size(folder, pictures):
    """The networks of section 3.5 as PyTorch initialises them, on real pictures between -1 and 1."""

    def write_seen(name, model, count):
        # Running statistics that are those of pictures, or the logits of so deep a network are next to 0.
        with torch.no_grad():
            for _ in range(30):
                model(batch[:count])
        single = results(copy.deepcopy(model), batch[:count], target[:count])
        double = results(copy.deepcopy(model).double(), batch[:count].double(), target[:count])
        more = {"single": torch.tensor([distance(single, double)])}
        write(folder / f"{name}.safetensors", model, batch[:count], target[:count], more)

    torch.manual_seed(1606_08415)
    record, count = 1 + 3 * 32 * 32, 16
    raw = torch.frombuffer(bytearray(pictures.read_bytes()[: count * record]), dtype=torch.uint8)
    raw = raw.reshape(count, record)
    target = raw[:, 0].long()
    batch = raw[:, 1:].reshape(count, 3, 32, 32).float() / 127.5 - 1
    folder.mkdir(parents=True, exist_ok=True)
    gelu = ACTIVATIONS["gelu"]
    write_seen("cnn", Cnn(96, 192, 10, gelu), 16)
    for order, block in [("paper", PaperBlock), ("original", PreActivationBlock)]:
        write_seen(f"wrn-{order}", WideResNet(block, 6, 16, 4, 10, gelu), 8)


def print_parameter_counts():
    """Of the paper's networks at full size: what the crate's unit tests expect."""
    twins = {
        "classifier": Mlp([784] + [128] * 8 + [10], None),
        "autoencoder": Autoencoder([784, 1000, 500, 250, 30], None),
        "tagger": Mlp([150, 256, 256, 25], None),
        "frame classifier": Mlp([286] + [2048] * 5 + [39], None),
        "cnn": Cnn(96, 192, 10, None),
        "wrn 40-4, paper": WideResNet(PaperBlock, 6, 16, 4, 100, None),
        "wrn 40-4, original": WideResNet(PreActivationBlock, 6, 16, 4, 100, None),
        "airbench": Airbench(3, [32, 128, 128], 10, None),
        "gpt": Gpt(65, 64, 4, 128, 4, NORMS["layer"], FeedForward, None),
    }
    for name, twin in twins.items():
        print(f"{name}: {sum(parameter.numel() for parameter in twin.parameters()):,} parameters")


def main():
    print_parameter_counts()
    torch.manual_seed(1606_08415)
    for name, act in ACTIVATIONS.items():
        reference(f"mlp-{name}", Mlp([6, 8, 8, 8, 5], act), (7, 6), 5)
    for name in ["gelu", "silu"]:
        act = ACTIVATIONS[name]
        reference(f"tagger-{name}", Mlp([6, 8, 8, 25], act), (9, 6), 25)
        reference(f"frame-{name}", Mlp([286, 8, 8, 8, 8, 8, 39], act), (5, 286), 39)
    for name in ["gelu", "elu"]:
        reference(f"autoencoder-{name}", Autoencoder([9, 7, 5, 3], ACTIVATIONS[name]), (6, 9), None)
    for name in ["gelu", "gelu-tanh", "relu", "elu"]:
        act = ACTIVATIONS[name]
        reference(f"cnn-{name}", Cnn(3, 4, 5, act), (4, 3, 14, 12), 5)
        for order, block in [("paper", PaperBlock), ("original", PreActivationBlock)]:
            twin = WideResNet(block, 2, 3, 1, 5, act)
            reference(f"wrn-{order}-{name}", twin, (4, 3, 9, 8), 5)
    def gpt(name, norm, mlp, activation=None):
        twin = Gpt(7, 6, 2, 8, 2, NORMS[norm], mlp, activation)
        randomise(twin)
        tokens = torch.randint(7, (3, 5))
        target = torch.randint(7, (15,))
        write(FOLDER / f"{name}.safetensors", twin, tokens.float(), target)

    for kind, norm, mlp, names in [
        ("gpt", "layer", FeedForward, ["gelu", "relu"]),
        ("gated-gpt", "rms", GatedFeedForward, ["gelu", "silu"]),
    ]:
        for name in names:
            gpt(f"{kind}-{name}", norm, mlp, ACTIVATIONS[name])
    for name in ["gelu", "relu"]:
        twin = Airbench(2, [3, 4, 5], 5, ACTIVATIONS[name])
        reference(f"airbench-{name}", twin, (4, 2, 19, 17), 5)
    gpt("normed-gpt", "layer", NormedFeedForward)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        full_size(*map(pathlib.Path, sys.argv[1:]))
    else:
        main()
