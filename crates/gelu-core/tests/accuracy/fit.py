#!/usr/bin/env python3
"""Fits the polynomials of src/math/normal.rs and prints them as hexadecimal doubles.

usage: fit.py        (needs mpmath and numpy)

With t = |x|, v = t / (t + 2), E = exp(-t^2 / 2), Phi the normal CDF and phi its density:

  Phi(-t)            = E * S(v) / (t + 2)
  Phi(-t) - t phi(t) = E * (T0 - t) * P(v)       T0 = 0.7517915..., the derivative's zero

Each polynomial is interpolated at Chebyshev points of v on [0, 15/17], which is within a small
factor of the minimax fit; the largest relative error over a dense grid is printed beside it.
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


def fit(function, degree):
    top = TOP / (TOP + A)
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
        abs(mp.polyval([mp.mpf(c) for c in reversed(rounded)], v) / function(v) - 1)
        for v in (top * k / 997 for k in range(998))
    )
    return rounded, worst


if __name__ == "__main__":
    print("T0 =", float(T0).hex(), mp.nstr(T0, 25))
    for name, function in (("S", tail), ("P", slope)):
        for degree in (12, 13, 14, 15, 16):
            coefficients, worst = fit(function, degree)
            print(f"{name} degree {degree}: relative error 2^{mp.nstr(mp.log(worst, 2), 4)}")
            if degree == 14:
                for c in coefficients:
                    print(f"    {c!r},  // {c.hex()}")
