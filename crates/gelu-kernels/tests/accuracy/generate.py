#!/usr/bin/env python3
"""Writes reference.csv: values and derivatives of every unit, from 200-digit arithmetic.

usage: generate.py > reference.csv        (needs mpmath)

A line is `unit,x,value,derivative`, doubles as hexadecimal bits, so that nothing is lost in print.
The inputs are the points where such code goes wrong: zeros, subnormals, the tails up to where
results vanish, the neighbourhood of the derivatives' zeros, overflow of x cubed, and a logarithmic
sweep. About half of them are f32; the others have all digits of an f64.
"""
import struct

import mpmath as mp

# The Cauchy derivative loses 2·38 digits to cancellation at 3.4e38, that of the smooth squared ReLU 4·38.
mp.mp.dps = 200


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


def sigma(x):
    return 1 / (1 + mp.exp(-x))


def mish(x):
    s = mp.log1p(mp.exp(x))
    return x * mp.tanh(s)


def mish_slope(x):
    s = mp.log1p(mp.exp(x))
    return mp.tanh(s) + x * mp.sech(s) ** 2 * sigma(x)


def smooth_root(x):
    """With the width that Python and Rust call 0.2."""
    return mp.sqrt(x * x + mp.mpf(0.2) ** 2)


def clamp(x, low, high):
    return min(max(x, mp.mpf(low)), mp.mpf(high))


def inside(x, low, high, slope):
    return slope if low < x < high else mp.mpf(0)


def tail(x):
    """P(C <= x), C standard Cauchy, without cancellation."""
    return mp.atan(-1 / x) / mp.pi if x < 0 else 1 - mp.atan(1 / x) / mp.pi


LAMBDA = mp.mpf("1.0507009873554804934193349852946")
ALPHA = mp.mpf("1.6732632423543772848170429916717")
MEAN, SIGMA = mp.mpf("0.707107"), mp.mpf("0.282095")
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
    "clipped-gelu": (
        lambda x: clamp(x * mp.ncdf(x), -10, 10),
        lambda x: mp.ncdf(x) + x * mp.npdf(x) if x * mp.ncdf(x) <= 10 else mp.mpf(0),
    ),
    "mish": (mish, mish_slope),
    "celu": (
        lambda x: x if x > 0 else mp.expm1(x),
        lambda x: mp.mpf(1) if x > 0 else mp.exp(x),
    ),
    "selu": (
        lambda x: LAMBDA * (x if x > 0 else ALPHA * mp.expm1(x)),
        lambda x: LAMBDA * (mp.mpf(1) if x > 0 else ALPHA * mp.exp(x)),
    ),
    # The slope is what Python and Rust call 0.01, as in PyTorch.
    "leaky-relu": (
        lambda x: x if x > 0 else mp.mpf(0.01) * x,
        lambda x: mp.mpf(1) if x > 0 else mp.mpf(0.01),
    ),
    "relu6": (lambda x: clamp(x, 0, 6), lambda x: inside(x, 0, 6, mp.mpf(1))),
    "squared-relu": (lambda x: max(x, 0) ** 2, lambda x: 2 * max(x, mp.mpf(0))),
    "softplus": (lambda x: mp.log1p(mp.exp(x)), sigma),
    "sigmoid": (sigma, lambda x: sigma(x) * sigma(-x)),
    "tanh": (mp.tanh, lambda x: mp.sech(x) ** 2),
    "hard-sigmoid": (
        lambda x: clamp((x + 3) / 6, 0, 1),
        lambda x: inside(x, -3, 3, mp.mpf(1) / 6),
    ),
    "hard-swish": (
        lambda x: x * clamp((x + 3) / 6, 0, 1),
        lambda x: mp.mpf(0) if x <= -3 else mp.mpf(1) if x >= 3 else (2 * x + 3) / 6,
    ),
    "hard-mish": (
        lambda x: x * clamp((x + 2) / 2, 0, 1),
        lambda x: mp.mpf(0) if x <= -2 else mp.mpf(1) if x >= 0 else x + 1,
    ),
    "laplace": (
        lambda x: mp.ncdf((x - MEAN) / SIGMA),
        lambda x: mp.npdf((x - MEAN) / SIGMA) / SIGMA,
    ),
    "gelu2": (
        lambda x: (x * mp.ncdf(x)) ** 2,
        lambda x: 2 * x * mp.ncdf(x) * (mp.ncdf(x) + x * mp.npdf(x)),
    ),
    "leaky-relu2": (
        lambda x: x * x if x > 0 else x * x / 4,
        lambda x: 2 * x if x > 0 else x / 2,
    ),
    "smooth-relu2": (
        lambda x: x * (x + smooth_root(x)) / 2,
        lambda x: x + (smooth_root(x) + x * x / smooth_root(x)) / 2,
    ),
    "sqrtsoftplus": (
        lambda x: mp.sqrt(mp.log1p(mp.exp(x))),
        lambda x: sigma(x) / (2 * mp.sqrt(mp.log1p(mp.exp(x)))),
    ),
    "log-sigmoid": (lambda x: -mp.log1p(mp.exp(-x)), lambda x: sigma(-x)),
    "softsign": (lambda x: x / (1 + abs(x)), lambda x: 1 / (1 + abs(x)) ** 2),
    "hardtanh": (lambda x: clamp(x, -1, 1), lambda x: inside(x, -1, 1, mp.mpf(1))),
    "tanhshrink": (lambda x: x - mp.tanh(x), lambda x: mp.tanh(x) ** 2),
    "softshrink": (lambda x: x - clamp(x, -0.5, 0.5), lambda x: mp.mpf(1 if abs(x) > 0.5 else 0)),
    "hardshrink": (lambda x: x if abs(x) > 0.5 else mp.mpf(0), lambda x: mp.mpf(1 if abs(x) > 0.5 else 0)),
    "thresholded-relu": (lambda x: x if x > 1 else mp.mpf(0), lambda x: mp.mpf(1 if x > 1 else 0)),
    "identity": (lambda x: x, lambda x: mp.mpf(1)),
    "relu": (lambda x: max(x, mp.mpf(0)), lambda x: mp.mpf(1 if x > 0 else 0)),
}


# Where a search over 20 million f64 found the largest errors of f64 values and derivatives.
WORST = [
    -614.1451193285341,
    -35.41535047844777,
    -34.421426376292295,
    -34.3810423069317,
    -30.081938799885236,
    -25.83920632561221,
    -24.56190120398638,
    -23.46350723739912,
    -22.722349862783652,
    -22.267435946083943,
    -20.212898151832494,
    -8.51943608709792,
    -8.393727630998583,
    -7.933776169715207,
    -7.011579080170607,
    -6.052143012015066,
    -5.5757165683089545,
    -3.4688959305898255,
    -2.6777845948356025,
    -2.0593158466658346,
    -1.888329436268032,
    -1.1505732225236376,
    -1.1481170499813802,
    -0.9935272168076908,
    -0.9917145657885817,
    -0.9322054493769801,
    -0.8260818598303652,
    -0.6765130924644042,
    -0.6762440418013703,
    -0.6234357861149511,
    -0.4363698520627414,
    -0.17822174295991247,
    -0.15716235463770753,
    -0.04973737629719921,
    -0.04595178968478656,
    -0.000430969924633488,
    0.05564594064624873,
    0.17718315265827575,
    1.259739253296894,
    2.028126863657085,
    3.0019738651976184,
    14.57981448740975,
]


def inputs():
    points = [2.0**-149, 2.0**-140, 2.0**-126, 1e-30, 1e-10, 1e-4]
    points += [3.0 * 1.07**k / 1000 for k in range(150)]
    points += [0.25, 0.5, 1.0, 2.0, 5.5, 6.0, 9.8, 12.5, 13.2, 13.9, 14.1, 14.6, 15.0, 40.0, 88.0, 104.0]
    points += [1e4, 1e13, 3.4e38]
    points = [sign * f32(p) for p in points for sign in (1, -1)]
    # The zeros of the derivatives: exact form, tanh form, sigmoid form, SiLU, Mish.
    for zero in (-0.7517915, -0.7524614, -0.7511542, -1.2784645, -1.1924312):
        points += [next_up(f32(zero), k) for k in range(-20, 21)]
        # In f64 both sides of it, from next to it to where series end.
        points += [zero + sign * 0.6**k for k in range(1, 30) for sign in (1, -1)]
    # f64 with all their digits: a sweep, the tails up to where f64 vanishes, kinks.
    points += [sign * 1.0 / 3 * 1.07**k / 100 for k in range(120) for sign in (1, -1)]
    points += [-step * 37.6 / 60 / 1.0001 for step in range(1, 61)]
    points += [-step * 744.0 / 50 / 1.0001 for step in range(1, 51)]
    points += [sign * edge * (1 + step * 2.0**-50) for edge in (2.0, 3.0, 6.0) for sign in (1, -1) for step in (-1, 1)]
    return sorted(set(points + WORST))


def bits64(value):
    return f"{struct.unpack('<Q', struct.pack('<d', float(value)))[0]:016x}"


if __name__ == "__main__":
    print("unit,x,value,derivative")
    for name, (value, derivative) in UNITS.items():
        for x in inputs():
            exact = mp.mpf(x)
            print(f"{name},{bits64(x)},{bits64(value(exact))},{bits64(derivative(exact))}")
