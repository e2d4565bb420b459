"""Tells a disc from the ring around it by a small network in PyTorch: its test error after every epoch."""

import json
import math
import sys

import torch
from torch import nn

activation, seed = sys.argv[1], int(sys.argv[2])
torch.manual_seed(seed)
torch.set_num_threads(1)


def points(count):
    """Points of the square, and whether they lie in the disc that is half of it."""
    square = 2 * torch.rand(count, 2) - 1
    return square, (square.square().sum(1) < 2 / math.pi).long()


train, test = points(1000), points(1000)
unit = {"gelu": nn.GELU, "none": nn.Identity}[activation]
net = nn.Sequential(nn.Linear(2, 32), unit(), nn.Linear(32, 32), unit(), nn.Linear(32, 2))
adam = torch.optim.Adam(net.parameters(), 1e-2)
for epoch in range(1, 6):
    for batch in torch.randperm(1000).split(50):
        adam.zero_grad()
        nn.functional.cross_entropy(net(train[0][batch]), train[1][batch]).backward()
        adam.step()
    with torch.no_grad():
        wrong = (net(test[0]).argmax(1) != test[1]).float().mean()
    print(json.dumps({"epoch": epoch, "test_error": wrong.item()}))
