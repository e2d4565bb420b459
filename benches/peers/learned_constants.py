#!/usr/bin/env python3
"""Prints what the constants of activations became in a comparison's trained networks.

usage: python3 benches/peers/learned_constants.py results/NAME

Needs cbor2 and numpy. Reads the `model.bpk` of every finished run, and prints of each constant (by its place in the
network) the mean over its neurons, the smallest and the largest, all of them means over seeds.
"""
import collections
import pathlib
import struct
import sys

import cbor2
import numpy


def tensors(path):
    """The tensors of a Burnpack file: ten bytes, of which the last four are the header's length; the header; the data."""
    content = path.read_bytes()
    (length,) = struct.unpack("<I", content[6:10])
    header = cbor2.loads(content[10 : 10 + length])["tensors"]
    # There may be padding after the header; the data end with the file.
    start = len(content) - max(tensor["data_offsets"][1] for tensor in header.values())
    for name, tensor in header.items():
        first, end = tensor["data_offsets"]
        yield name, numpy.frombuffer(content[start + first : start + end], "<f4")


def main():
    found = collections.defaultdict(list)
    for model in sorted(pathlib.Path(sys.argv[1]).glob("runs/*/model.bpk")):
        setting = model.parent.name.split("-seed")[0]
        for name, values in tensors(model):
            if ".activation." in name:
                found[setting, name].append((values.mean(), values.min(), values.max()))
    for (setting, name), seeds in sorted(found.items()):
        mean, least, most = numpy.mean(seeds, axis=0)
        print(f"{setting}  {name}  {mean:.3f} ({least:.3f} to {most:.3f}; {len(seeds)} seeds)")


if __name__ == "__main__":
    main()
