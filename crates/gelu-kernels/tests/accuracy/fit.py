#!/usr/bin/env python3
"""Fits the polynomials of src/functions/ that work in f64, and prints them as doubles.

usage: fit.py        (needs mpmath)

With t = |x|, v = t / (t + a), E = exp(-t^2 / 2), Phi the normal CDF and phi its density:

  Phi(-t)            = E * S(v - s) / (t + a)
  Phi(-t) - t phi(t) = E * (T0 - t) * P(v - s)     T0 = 0.7517915..., the derivative's zero

With z in [0, 1], in f64 in [0, 1.25], for the arc tangent:

  atan z = z / (1 + z^2) + z^3 Q(z^2)

Each is interpolated at Chebyshev points, which is within a small factor of the minimax fit; the
largest relative error over a dense grid is printed beside it. For results that are rounded to f32:
a = 2, s = 0, t up to 15. For f64: t up to 39, and the constant in two parts. Then the Taylor series
of derivatives about their zeros, cut below 2^-58 of the first term at the distance they serve.
"""
import mpmath as mp

mp.mp.dps = 60
ROOT_TWO_PI = mp.sqrt(2 * mp.pi)
T0 = mp.findroot(lambda t: mp.ncdf(-t) - t * mp.npdf(t), mp.mpf("0.75"))


def mills(t):
    """Phi(-t) / exp(-t^2 / 2)."""
    return mp.erfc(t / mp.sqrt(2)) / 2 * mp.exp(t * t / 2)


def tail(a):
    def function(v):
        t = a * v / (1 - v)
        return (t + a) * mills(t)

    return function


def slope(a):
    def function(v):
        t = a * v / (1 - v)
        if abs(t - T0) < mp.mpf(10) ** -25:
            t += mp.mpf(10) ** -20
        return (mills(t) - t / ROOT_TWO_PI) / (T0 - t)

    return function


def arc(y):
    """(atan z - z / (1 + z^2)) / z^3 with z^2 = y."""
    if y < mp.mpf(10) ** -12:
        return mp.mpf(2) / 3 - mp.mpf(4) / 5 * y
    z = mp.sqrt(y)
    return (mp.atan(z) - z / (1 + y)) / z**3


def fit(function, degree, top, shift=mp.mpf(0)):
    """Coefficients of (x - shift)^k, what rounding the constant lost, and the largest error."""
    nodes = [
        top / 2 * (1 + mp.cos(mp.pi * (2 * k + 1) / (2 * (degree + 1)))) for k in range(degree + 1)
    ]
    matrix = mp.matrix(degree + 1, degree + 1)
    for row, node in enumerate(nodes):
        for column in range(degree + 1):
            matrix[row, column] = (node - shift) ** column
    exact = mp.lu_solve(matrix, mp.matrix([function(node) for node in nodes]))
    rounded = [float(c) for c in exact]
    lost = float(exact[0] - mp.mpf(rounded[0]))
    used = [mp.mpf(c) for c in rounded]
    used[0] += mp.mpf(lost)
    worst = max(
        abs(mp.polyval(used[::-1], x - shift) / function(x) - 1)
        for x in (top * k / 997 for k in range(998))
    )
    return rounded, lost, worst


def gated_slope(u, rise):
    """The derivative of x sigma(u(x)), given u and its derivative."""
    sigma = lambda y: 1 / (1 + mp.exp(-y))
    return lambda x: sigma(u(x)) * (1 + x * rise(x) * sigma(-u(x)))


ROOT, CUBIC = 2 * mp.sqrt(2 / mp.pi), mp.mpf("0.044715")

def mish_slope(x):
    """tanh(s) + x sech(s)^2 sigma(x) with s = ln(1 + e^x)."""
    s = mp.log1p(mp.exp(x))
    return mp.tanh(s) + x * mp.sech(s) ** 2 / (1 + mp.exp(-x))


# The derivative, a point near its zero, and the radius.
SLOPES = {
    "SILU": (gated_slope(lambda x: x, lambda x: 1), "-1.278", "0.125"),
    "GELU_TANH": (
        gated_slope(lambda x: ROOT * (x + CUBIC * x**3), lambda x: ROOT * (1 + 3 * CUBIC * x * x)),
        "-0.7525",
        "0.125",
    ),
    "MISH": (mish_slope, "-1.1924", "0.5"),
}


def show(coefficients):
    for c in coefficients:
        print(f"    {c!r},")


if __name__ == "__main__":
    print("T0 =", float(T0).hex(), mp.nstr(T0, 35), "low", float(T0 - mp.mpf(float(T0))))
    single, double = mp.mpf(15), mp.mpf(39)
    for name, function, top, shift, degrees in (
        ("S", tail(2), single / (single + 2), mp.mpf(0), (15,)),
        ("P", slope(2), single / (single + 2), mp.mpf(0), (13,)),
        ("Q", arc, mp.mpf(1), mp.mpf(0), (14,)),
        ("S_DOUBLE", tail(3), double / (double + 3), mp.mpf(0.45), (26,)),
        ("P_DOUBLE", slope(4), double / (double + 4), mp.mpf(0.45), (22,)),
        ("Q_DOUBLE", arc, mp.mpf(1.5625), mp.mpf(0.78125), (25, 26, 27)),
    ):
        for degree in degrees:
            coefficients, lost, worst = fit(function, degree, top, shift)
            print(f"{name} degree {degree}: relative error 2^{mp.nstr(mp.log(worst, 2), 4)}, constant + {lost!r}")
            show(coefficients)
    for name, (function, near, radius) in SLOPES.items():
        mp.mp.dps = 100
        zero = mp.findroot(function, mp.mpf(near))
        high = float(zero)
        print(f"{name}: zero {high!r} + {float(zero - mp.mpf(high))!r}")
        series = mp.taylor(function, zero, 40)[1:]
        least = abs(series[0]) * mp.mpf(2) ** -58
        count = max(k for k, c in enumerate(series) if abs(c) * mp.mpf(radius) ** k > least)
        show([float(c) for c in series[: count + 1]])
