"""Writes convolution.csv: convolutions and their gradients by PyTorch in f64.

usage: python3 convolution.py > convolution.csv      (needs torch)

Input, weight, bias and the result's gradient are the sines that `wave` says; so the test makes the
same. Of the result and of the input's gradient every 29th number is written.
"""
import torch
from torch.nn import functional

# name: channels, outputs, [height, width], kernel, stride, padding [top, left, bottom, right], dilation
CASES = {
    # The nine-layer network's.
    "cnn-first": (3, 4, [32, 32], [3, 3], [1, 1], [1, 1, 1, 1], [1, 1]),
    "cnn-second": (4, 5, [16, 16], [3, 3], [1, 1], [1, 1, 1, 1], [1, 1]),
    "cnn-valid": (5, 4, [8, 8], [3, 3], [1, 1], [0, 0, 0, 0], [1, 1]),
    "cnn-pointwise": (4, 5, [6, 6], [1, 1], [1, 1], [0, 0, 0, 0], [1, 1]),
    # The wide residual network's.
    "wrn-halving": (3, 4, [32, 32], [3, 3], [2, 2], [1, 1, 1, 1], [1, 1]),
    "wrn-halving-odd": (3, 4, [15, 9], [3, 3], [2, 2], [1, 1, 1, 1], [1, 1]),
    "wrn-third": (4, 3, [8, 8], [3, 3], [1, 1], [1, 1, 1, 1], [1, 1]),
    "wrn-shortcut": (3, 5, [16, 16], [1, 1], [2, 2], [0, 0, 0, 0], [1, 1]),
    # Others'.
    "uneven": (2, 3, [11, 13], [5, 3], [2, 3], [2, 1, 2, 1], [2, 1]),
    "one-sided": (2, 3, [7, 6], [2, 4], [1, 1], [0, 1, 1, 2], [1, 1]),
    "dilated": (3, 2, [12, 10], [3, 3], [1, 1], [3, 2, 3, 2], [3, 2]),
    "far-padding": (2, 2, [3, 2], [3, 3], [1, 1], [4, 5, 4, 5], [1, 1]),
    "whole-picture": (3, 4, [5, 4], [5, 4], [1, 1], [0, 0, 0, 0], [1, 1]),
    "one-pixel": (3, 2, [1, 1], [3, 3], [1, 1], [1, 1, 1, 1], [1, 1]),
    "wide-and-low": (2, 3, [2, 300], [3, 3], [1, 1], [1, 1, 1, 1], [1, 1]),
}
BATCH = 2


def wave(shape, frequency, phase):
    count = torch.Size(shape).numel()
    return torch.sin(frequency * torch.arange(count, dtype=torch.float64) + phase).reshape(shape)


def main():
    print("case,channels,outputs,size,kernel,stride,padding,dilation,result,input,weight,bias")
    for name, (channels, outputs, size, kernel, stride, padding, dilation) in CASES.items():
        x = wave([BATCH, channels, *size], 0.37, 0.0).requires_grad_()
        weight = wave([outputs, channels, *kernel], 0.53, 1.0).requires_grad_()
        bias = wave([outputs], 0.9, 2.0).requires_grad_()
        top, left, bottom, right = padding
        padded = functional.pad(x, [left, right, top, bottom])
        y = functional.conv2d(padded, weight, bias, stride, 0, dilation)
        y.backward(wave(y.shape, 0.71, 3.0))
        sizes = [size, kernel, stride, padding, dilation]
        values = [y.flatten()[::29], x.grad.flatten()[::29], weight.grad.flatten(), bias.grad]
        print(",".join([
            name, str(channels), str(outputs),
            *(" ".join(map(str, size)) for size in sizes),
            *(" ".join(f"{value:.9g}" for value in values.tolist()) for values in values),
        ]))


if __name__ == "__main__":
    main()
