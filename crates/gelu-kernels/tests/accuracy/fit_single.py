#!/usr/bin/env python3
"""Fits the f32 polynomials of src/functions/ and src/arithmetic/fused.rs and prints them.

usage: fit_single.py        (needs mpmath and numpy)

With t = |x|, v = t / (t + a), E = exp(-t^2 / 2), Phi the normal CDF and phi its density:

  t Phi(-t)          = E * v * S(v - shift)            a = 2.625, shift = 0.45
  Phi(-t) - t phi(t) = E * (T0 - t) * P(v - shift)     a = 3.5,   shift = 0.33125

for results in 16 bits S with a = 3.75 and P with a = 3, both of v,

and the exponential's series (exp(-r/2) - 1)/r and (exp(-r) - 1)/r. Each is the minimax fit of the
relative error (Lawson's weights), its coefficients rounded to f32 from the constant upwards, the
rest fitted again after each. The shift decides how well the constant can be rounded: it, a and the
degree were chosen among many by the largest error of the whole formula over a stride of all inputs.
"""
import mpmath as mp
import numpy as np

mp.mp.dps = 40
TOP = 14.625
T0 = mp.findroot(lambda t: mp.ncdf(-t) - t * mp.npdf(t), mp.mpf("0.75"))
NODES = 400


def mills(t):
    """Phi(-t) / exp(-t^2 / 2)."""
    return mp.erfc(t / mp.sqrt(2)) / 2 * mp.exp(t * t / 2)


def tail(a, t):
    return (t + a) * mills(t)


def slope(_, t):
    if abs(t - T0) < mp.mpf(10) ** -15:
        t += mp.mpf(10) ** -12
    return (mills(t) - t / mp.sqrt(2 * mp.pi)) / (T0 - t)


def chebyshev(low, high, count):
    middle, half = (low + high) / 2, (high - low) / 2
    return middle - half * np.cos(np.pi * (np.arange(count) + 0.5) / count)


def lawson(columns, target, weight, rounds):
    """Least squares whose weights grow where the error is large: tends to the minimax fit."""
    mass = np.ones(len(target)) / len(target)
    best = None
    for _ in range(rounds):
        root = np.sqrt(mass) * weight
        q, r = np.linalg.qr(columns * root[:, None])
        solution = np.linalg.solve(r, q.T @ (target * root))
        error = np.abs(weight * (columns @ solution - target))
        if best is None or error.max() < best[0]:
            best = (error.max(), solution)
        mass = mass * (error + 1e-3 * error.max())
        mass /= mass.sum()
    return best[1]


def rounded_fit(points, target, weight, degree, rounds, constant=None):
    """Coefficients in f32, and the largest weighted error."""
    powers = np.vander(points, degree + 1, increasing=True)
    scale = np.abs(points).max()
    rest, coefficients = target.copy(), []
    for k in range(degree + 1):
        if k == 0 and constant is not None:
            c = constant
        else:
            columns = powers[:, k:] / scale ** np.arange(k, degree + 1)
            c = lawson(columns, rest, weight, rounds)[0] / scale**k
        c = float(np.float32(c))
        coefficients.append(c)
        rest = rest - c * powers[:, k]
    return coefficients, np.abs(weight * rest).max()


def show(name, coefficients, error):
    print(f"{name}: error 2^{np.log2(error):.2f}")
    for c in coefficients:
        print(f"    {np.float32(c)!s},  // {c.hex()}")


def normal(name, function, a, degree, shift):
    v = chebyshev(0, TOP / (TOP + a), NODES)
    exact = (function(a, a * mp.mpf(float(x)) / (1 - mp.mpf(float(x)))) for x in v)
    exact = np.array([float(value) for value in exact])
    shift = float(np.float32(shift))
    show(name, *rounded_fit(v - shift, exact, 1 / exact, degree, 30))


def exponential(name, factor, reach, degree):
    r = chebyshev(-reach, reach, 2 * NODES)
    exact = np.array([float(mp.expm1(-mp.mpf(float(x)) * factor) / mp.mpf(float(x))) for x in r])
    # The absolute error of the series, times r, beside 1 + s = exp(-factor r).
    weight = np.abs(r) * np.exp(factor * r)
    show(name, *rounded_fit(r, exact, weight, degree, 60, constant=-factor))


if __name__ == "__main__":
    normal("S", tail, 2.625, 9, 0.45)
    normal("P", slope, 3.5, 8, 0.33125)
    normal("S for 16 bits", tail, 3.75, 6, 0.0)
    normal("P for 16 bits", slope, 3.0, 5, 0.0)
    exponential("SERIES_HALF", 0.5, 0.6935, 5)
    exponential("SERIES", 1.0, 0.34675, 5)
