"""Writes batch_norm.csv: batch norm, the activation behind it and their gradients by PyTorch in f64.

usage: python3 batch_norm.py > batch_norm.csv      (needs torch)

Input, scale, shift and the result's gradient are the sines that `wave` says; so the test makes the
same. Of the result and of the input's gradient every 29th number is written.
"""
import torch
from torch.nn import functional

ACTIVATIONS = {
    "none": lambda x: x,
    "gelu": functional.gelu,
    "gelu-tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "relu": functional.relu,
    "elu": functional.elu,
    "silu": functional.silu,
}
SHAPES = [[3, 4, 5, 7], [2, 3, 33, 40], [6, 5, 3, 3], [7, 5], [4, 3, 20]]


def wave(shape, frequency, phase):
    count = torch.Size(shape).numel()
    return torch.sin(frequency * torch.arange(count, dtype=torch.float64) + phase).reshape(shape)


def main():
    print("activation,shape,result,input,gamma,beta,evaluated")
    for name, activation in ACTIVATIONS.items():
        for shape in SHAPES:
            channels = shape[1]
            x = (3 + 2 * wave(shape, 0.37, 0.0)).requires_grad_()
            gamma = (1 + wave([channels], 0.9, 2.0)).requires_grad_()
            beta = wave([channels], 0.6, 1.0).requires_grad_()
            y = activation(functional.batch_norm(x, None, None, gamma, beta, True, 0, 1e-3))
            y.backward(wave(shape, 0.71, 3.0))
            mean, variance = wave([channels], 1.1, 0.5), 1.5 + wave([channels], 1.3, 0.2)
            evaluated = activation(
                functional.batch_norm(x, mean, variance, gamma, beta, False, 0, 1e-3)
            )
            every = lambda values: values.flatten()[::29]
            rows = [every(y), every(x.grad), gamma.grad, beta.grad, every(evaluated)]
            print(",".join([
                name,
                " ".join(map(str, shape)),
                *(" ".join(f"{value:.9g}" for value in row.tolist()) for row in rows),
            ]))


if __name__ == "__main__":
    main()
