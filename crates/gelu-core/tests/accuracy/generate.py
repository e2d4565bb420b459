#!/usr/bin/env python3
"""Writes reference.csv: values and derivatives of every unit, from 150-digit arithmetic.

usage: generate.py > reference.csv        (needs mpmath)

A line is `unit,x,value,derivative`; x is an f32, the results are doubles, all as hexadecimal
bits, so that nothing is lost in print. The inputs are the points where such code goes wrong:
zeros, subnormals, the tails up to where results vanish, the neighbourhood of the GELU
derivative's zero, overflow of x cubed, and a logarithmic sweep.
"""
import struct

import mpmath as mp

# The Cauchy derivative loses 2·38 digits to cancellation at 3.4e38.
mp.mp.dps = 150


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def next_up(value, steps):
    bits = struct.unpack("<i", struct.pack("<f", value))[0]
    return struct.unpack("<f", struct.pack("<i", bits + steps))[0]


def logistic_form(argument, slope):
    def value(x):
        return x / (1 + mp.exp(-argument(x)))

    def derivative(x):
        sigma, other = 1 / (1 + mp.exp(-argument(x))), 1 / (1 + mp.exp(argument(x)))
        return sigma * (1 + x * slope(x) * other)

    return value, derivative


def tail(x):
    """P(C <= x), C standard Cauchy, without cancellation."""
    return mp.atan(-1 / x) / mp.pi if x < 0 else 1 - mp.atan(1 / x) / mp.pi


C, A, K = mp.mpf("1.702"), mp.mpf("0.044715"), 2 * mp.sqrt(2 / mp.pi)
UNITS = {
    "gelu": (lambda x: x * mp.ncdf(x), lambda x: mp.ncdf(x) + x * mp.npdf(x)),
    "gelu-tanh": logistic_form(lambda x: K * (x + A * x**3), lambda x: K * (1 + 3 * A * x * x)),
    "gelu-sigmoid": logistic_form(lambda x: C * x, lambda x: C),
    "silu": logistic_form(lambda x: x, lambda x: mp.mpf(1)),
    "elu": (
        lambda x: x if x > 0 else mp.expm1(x),
        lambda x: mp.mpf(1) if x > 0 else mp.exp(x),
    ),
    "cauchy": (
        lambda x: x * tail(x),
        lambda x: tail(x) + x / (mp.pi * (1 + x * x)),
    ),
    "normal-cdf": (mp.ncdf, mp.npdf),
    "relu": (lambda x: max(x, mp.mpf(0)), lambda x: mp.mpf(1 if x > 0 else 0)),
}


def inputs():
    points = [2.0**-149, 2.0**-140, 2.0**-126, 1e-30, 1e-10, 1e-4]
    points += [3.0 * 1.07**k / 1000 for k in range(150)]
    points += [0.25, 0.5, 1.0, 2.0, 5.5, 6.0, 9.8, 12.5, 13.2, 13.9, 14.1, 14.6, 15.0, 40.0, 88.0, 104.0]
    points += [1e4, 1e13, 3.4e38]
    points = [sign * f32(p) for p in points for sign in (1, -1)]
    # The zeros of the derivatives: exact form, tanh form, sigmoid form, SiLU.
    for zero in (-0.7517915, -0.7524614, -0.7511542, -1.2784645):
        points += [next_up(f32(zero), k) for k in range(-20, 21)]
    return sorted(set(points))


def bits32(value):
    return f"{struct.unpack('<I', struct.pack('<f', value))[0]:08x}"


def bits64(value):
    return f"{struct.unpack('<Q', struct.pack('<d', float(value)))[0]:016x}"


if __name__ == "__main__":
    print("unit,x,value,derivative")
    for name, (value, derivative) in UNITS.items():
        for x in inputs():
            exact = mp.mpf(x)
            print(f"{name},{bits32(x)},{bits64(value(exact))},{bits64(derivative(exact))}")
