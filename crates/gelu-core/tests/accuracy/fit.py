#!/usr/bin/env python3
"""Fits the polynomials of src/math/normal.rs, src/math/cauchy.rs and src/math/wide/zero.rs and
prints them as doubles.

usage: fit.py        (needs mpmath)

With t = |x|, v = t / (t + 2), E = exp(-t^2 / 2), Phi the normal CDF and phi its density:

  Phi(-t)            = E * S(v) / (t + 2)
  Phi(-t) - t phi(t) = E * (T0 - t) * P(v)       T0 = 0.7517915..., the derivative's zero

With z in [0, 1], for the arc tangent:

  atan z = z / (1 + z^2) + z^3 Q(z^2)

Each of these is interpolated at Chebyshev points (of v on [0, 15/17], of z^2 on [0, 1]), which is
within a small factor of the minimax fit; the largest relative error over a dense grid is printed
beside it. Then the Taylor series of three derivatives about their zeros, cut below 2^-58 of the
first term at a distance of 1/8.
"""
import mpmath as mp

mp.mp.dps = 60
A, TOP = mp.mpf(2), mp.mpf(15)
ROOT_TWO_PI = mp.sqrt(2 * mp.pi)
T0 = mp.findroot(lambda t: mp.ncdf(-t) - t * mp.npdf(t), mp.mpf("0.75"))


def mills(t):
    """Phi(-t) / exp(-t^2 / 2)."""
    return mp.erfc(t / mp.sqrt(2)) / 2 * mp.exp(t * t / 2)


def tail(v):
    t = A * v / (1 - v)
    return (t + A) * mills(t)


def slope(v):
    t = A * v / (1 - v)
    if abs(t - T0) < mp.mpf(10) ** -25:
        t += mp.mpf(10) ** -20
    return (mills(t) - t / ROOT_TWO_PI) / (T0 - t)


def arc(y):
    """(atan z - z / (1 + z^2)) / z^3 with z^2 = y."""
    if y < mp.mpf(10) ** -12:
        return mp.mpf(2) / 3 - mp.mpf(4) / 5 * y
    z = mp.sqrt(y)
    return (mp.atan(z) - z / (1 + y)) / z**3


def fit(function, degree, top):
    nodes = [
        top / 2 * (1 + mp.cos(mp.pi * (2 * k + 1) / (2 * (degree + 1)))) for k in range(degree + 1)
    ]
    matrix = mp.matrix(degree + 1, degree + 1)
    for row, node in enumerate(nodes):
        for column in range(degree + 1):
            matrix[row, column] = node**column
    exact = mp.lu_solve(matrix, mp.matrix([function(node) for node in nodes]))
    rounded = [float(c) for c in exact]
    worst = max(
        abs(mp.polyval([mp.mpf(c) for c in reversed(rounded)], x) / function(x) - 1)
        for x in (top * k / 997 for k in range(998))
    )
    return rounded, worst


def gated_slope(u, rise):
    """The derivative of x sigma(u(x)), given u and its derivative."""
    sigma = lambda y: 1 / (1 + mp.exp(-y))
    return lambda x: sigma(u(x)) * (1 + x * rise(x) * sigma(-u(x)))


ROOT, CUBIC = 2 * mp.sqrt(2 / mp.pi), mp.mpf("0.044715")
SLOPES = {
    "GELU": (lambda x: mp.ncdf(x) + x * mp.npdf(x), "-0.7518"),
    "SILU": (gated_slope(lambda x: x, lambda x: 1), "-1.278"),
    "GELU_TANH": (
        gated_slope(lambda x: ROOT * (x + CUBIC * x**3), lambda x: ROOT * (1 + 3 * CUBIC * x * x)),
        "-0.7525",
    ),
}


def show(coefficients):
    for c in coefficients:
        print(f"    {c!r},  // {c.hex()}")


if __name__ == "__main__":
    print("T0 =", float(T0).hex(), mp.nstr(T0, 25))
    for name, function, top, chosen in (
        ("S", tail, TOP / (TOP + A), 15),
        ("P", slope, TOP / (TOP + A), 13),
        ("Q", arc, mp.mpf(1), 14),
    ):
        for degree in (12, 13, 14, 15, 16):
            coefficients, worst = fit(function, degree, top)
            print(f"{name} degree {degree}: relative error 2^{mp.nstr(mp.log(worst, 2), 4)}")
            if degree == chosen:
                show(coefficients)
    for name, (function, near) in SLOPES.items():
        zero = mp.findroot(function, mp.mpf(near))
        high = float(zero)
        print(f"{name}: zero {high!r} + {float(zero - mp.mpf(high))!r}")
        series = mp.taylor(function, zero, 24)[1:]
        least = abs(series[0]) * mp.mpf(2) ** -58
        count = max(k for k, c in enumerate(series) if abs(c) * mp.mpf(8) ** -k > least)
        show([float(c) for c in series[: count + 1]])
