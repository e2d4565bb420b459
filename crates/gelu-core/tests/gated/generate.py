"""Writes references.csv: gated units by PyTorch, in double precision.

    python3 generate.py > references.csv

A row is: function, which half of the last dimension is the gate, then 2 x 6 inputs x (row by
row), 2 x 3 gradients dy of the output, 2 x 3 outputs and 2 x 6 gradients of x. Inputs and
gradients dy are f32 numbers, so that f32 and f64 start from the same.
"""

import torch
from torch.nn import functional as F

GATES = {
    "gelu": F.gelu,
    "gelu-tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "relu": F.relu,
}

torch.manual_seed(1)
for name, function in GATES.items():
    for place in ("first", "last"):
        x = (2 * torch.randn(2, 6)).double().requires_grad_()
        dy = torch.randn(2, 3).double()
        halves = x.chunk(2, dim=-1)
        gate, value = halves if place == "first" else reversed(halves)
        y = function(gate) * value
        y.backward(dy)
        numbers = torch.cat([t.detach().flatten() for t in (x, dy, y, x.grad)])
        print(",".join([name, place, *(repr(number) for number in numbers.tolist())]))
