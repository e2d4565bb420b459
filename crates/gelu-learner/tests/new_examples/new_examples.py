"""Random outcomes of paired runs, and their interval over new examples by numpy and scipy.

    python3 crates/gelu-compare/tests/statistics/new_examples.py

writes new_examples.json beside this file. Needs numpy and scipy (1.17 made the file). The program adds up
groups; here the variances are those of a mean over examples clustered by seed, by group and by both, as
sandwiches over single examples.
"""

import json
import pathlib

import numpy as np
from scipy import stats


def interval(a, b, sizes, alpha):
    """a, b: one row a seed, one column an example."""
    d = a - b
    n, examples = d.shape
    group = np.repeat(np.arange(len(sizes)), sizes)
    effective = examples**2 / np.sum(np.square(sizes, dtype=float))
    if n < 2 or effective < 2 - 1e-9:
        return None
    influence = (d - d.mean()) / d.size

    def clustered(labels, clusters):
        sums = np.bincount(labels.ravel(), weights=influence.ravel())
        return clusters / (clusters - 1) * np.sum(sums**2)

    seed = np.repeat(np.arange(n)[:, None], examples, axis=1)
    column = np.repeat(group[None, :], n, axis=0)
    v_seed = clustered(seed, n)
    v_group = clustered(column, effective)
    v_both = clustered(seed * len(sizes) + column, n * effective)
    v = max(v_seed, v_group, v_seed + v_group - v_both)
    freedom = v**2 / (v_seed**2 / (n - 1) + v_group**2 / (effective - 1))
    low, high = stats.t.interval(1 - alpha, freedom, d.mean(), np.sqrt(v))
    return dict(low=float(low), high=float(high), groups=len(sizes))


def case(random, index):
    n = int(random.integers(1, 8))
    sizes = [
        [1] * int(random.integers(2, 25)),
        random.integers(1, 6, size=int(random.integers(2, 9))).tolist(),
        [int(random.integers(10, 20)), 2, 1, 1],
    ][int(random.choice(3, p=[0.45, 0.45, 0.1]))]
    examples = sum(sizes)
    group = np.repeat(random.normal(size=len(sizes)), sizes)
    score = lambda: group + random.normal(size=(n, 1)) + random.normal(size=(n, examples))
    alpha = float(random.choice([0.05, 0.025, 0.05 / 32]))
    kind = ["losses", "errors", "noise"][index % 3]
    if kind == "losses":
        # Exact in f32.
        a, b = (np.round(64 * score()) / 64 for _ in range(2))
        runs = [r.tolist() for r in a], [r.tolist() for r in b]
    else:
        levels = 1 if kind == "errors" else 3
        a, b = (np.stack([score() > 0.5 for _ in range(levels)]) for _ in range(2))
        bits = lambda x: ["".join("01"[int(v)] for v in row) for row in x]
        runs = [bits(a[:, s]) for s in range(n)], [bits(b[:, s]) for s in range(n)]
        a, b = a.mean(axis=0), b.mean(axis=0)
    expected = interval(a, b, sizes, alpha)
    return {"kind": kind, "alpha": alpha, "sizes": sizes, "a": runs[0], "b": runs[1], "expected": expected}


random = np.random.default_rng(20261123)
cases = [case(random, index) for index in range(84)]
path = pathlib.Path(__file__).with_name("new_examples.json")
text = json.dumps(cases, separators=(",", ":")).replace('},{"kind', '},\n{"kind')
path.write_text(text + "\n")
print(len(cases), sum(c["expected"] is None for c in cases), len(text))
