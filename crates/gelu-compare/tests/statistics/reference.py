"""Random comparisons with ties, diverged and missing runs, and what scipy makes of them.

    python3 crates/gelu-compare/tests/statistics/reference.py

writes reference.json beside this file. Needs numpy and scipy (1.17 made the file). Nothing here is
translated from the program: intervals are scipy.stats.t.interval, p-values
scipy.stats.permutation_test over sign changes, shares scipy.stats.binomtest, powers the noncentral t.
Every decision is made at 0.05 divided by the number of comparisons, once all seeds are complete.
"""

import json
import pathlib

import numpy as np
from scipy import optimize, stats

ALPHA = 0.05
DIVERGED = "diverged"


def signed_ranks(d):
    """Of thousandths as whole numbers, so that equal differences are equal."""
    d = np.rint(d * 1000)
    return np.sign(d) * stats.rankdata(np.abs(d))


def sign_flip(d):
    """p of all sign patterns of the mean; of signed ranks where a difference is infinite."""
    if len(d) < 2 or np.all(d == 0):
        return 1.0
    if np.isinf(d).any():
        d = signed_ranks(d)
    else:
        # Thousandths as whole numbers, whose sums are exact.
        d = np.rint(d * 1000)
    result = stats.permutation_test(
        (d,),
        lambda x, axis: np.mean(x, axis=axis),
        vectorized=True,
        permutation_type="samples",
        n_resamples=np.inf,
        batch=100_000,
        alternative="two-sided",
    )
    return float(result.pvalue)


def detectable(n, deviation, level):
    t = stats.t.ppf(1 - level / 2, n - 1)

    def missing(effect):
        shift = effect * np.sqrt(n)
        lower = np.nan_to_num(stats.nct.cdf(-t, n - 1, shift))
        return stats.nct.sf(t, n - 1, shift) + lower - 0.8

    # Of two pairs scipy's noncentral t is no number where it is needed.
    return float(optimize.brentq(missing, 0.3, 9.0)) * deviation if n > 2 else None


def difference(a, b, level):
    """Of the pairs in which both runs are complete."""
    pairs = [(x, y) for x, y in zip(a, b) if x is not None and y is not None]
    value = lambda x: np.inf if x == DIVERGED else x
    pairs = np.array([(value(x), value(y)) for x, y in pairs]).reshape(-1, 2)
    with np.errstate(invalid="ignore"):
        d = np.where(pairs[:, 0] == pairs[:, 1], 0.0, pairs[:, 0] - pairs[:, 1])
    n = len(d)
    found = dict(runs=n, mean=None, interval=None, interval_95=None, smallest_detectable=None)
    found.update(variance_ratio=None, probability_better=None, probability_better_interval=None)
    found["p"] = sign_flip(d) if n else None
    if n:
        better = int(np.sum(pairs[:, 0] < pairs[:, 1]))
        ties = int(np.sum(pairs[:, 0] == pairs[:, 1]))
        found["probability_better"] = (better + ties / 2) / n
        if ties % 2 == 0:
            share = stats.binomtest(better + ties // 2, n).proportion_ci(method="wilson")
            found["probability_better_interval"] = [float(share.low), float(share.high)]
    tost = False
    if n >= 2 and np.isfinite(pairs).all():
        mean, deviation = float(np.mean(d)), float(np.std(d, ddof=1))
        interval = lambda level: (
            stats.t.interval(level, n - 1, mean, stats.sem(d)) if deviation > 0 else (mean, mean)
        )
        ends = lambda pair: [float(pair[0]), float(pair[1])]
        found.update(mean=mean, interval=ends(interval(1 - level)), interval_95=ends(interval(1 - ALPHA)))
        found["smallest_detectable"] = detectable(n, deviation, level)
        apart = np.var(pairs[:, 0], ddof=1) + np.var(pairs[:, 1], ddof=1)
        found["variance_ratio"] = float(np.var(d, ddof=1) / apart) if apart > 0 else None
        tost = interval(1 - 2 * level)
    ranks = signed_ranks(d) if n and np.isinf(d).any() else d
    return found, tost, float(np.sum(ranks))


def comparison(random, activations, seeds, spread, shift, lost, missing):
    def run(k):
        if random.random() < missing:
            return None
        if random.random() < lost:
            return DIVERGED
        # Of 1,000 examples, so that many runs and differences are equal.
        return round(float(20 + shift * k + spread * random.normal())) / 1000

    values = [[run(k) for _ in range(seeds)] for k in range(activations)]
    negligible = 0.002
    level = ALPHA / (activations - 1)
    found = [difference(values[k], values[0], level) for k in range(1, activations)]
    expected = []
    for f, tost, total in found:
        # A look is taken when all its pairs are there.
        complete = f["runs"] == seeds
        if not complete:
            f["p"] = None
        f["p_adjusted"] = None if f["p"] is None else min(1.0, f["p"] * ALPHA / level)
        if complete and tost and -negligible <= tost[0] and tost[1] <= negligible:
            f["verdict"] = "same"
        elif complete and seeds and f["p"] <= level and total != 0:
            f["verdict"] = "better" if total < 0 else "worse"
        else:
            f["verdict"] = "undecided"
        expected.append(f)
    return dict(negligible=negligible, values=values, expected=expected)


def main():
    random = np.random.default_rng(20261121)
    cases = []
    for index in range(120):
        cases.append(
            comparison(
                random,
                activations=int(random.integers(2, 5)),
                seeds=int(random.integers(0, 15)),
                spread=[0.3, 2.0, 6.0][index % 3],
                shift=[0.0, 1.0, -4.0, 0.0][index % 4],
                lost=[0.0, 0.0, 0.15][index % 3],
                missing=[0.0, 0.1][index % 2],
            )
        )
    # The largest that are counted whole.
    cases += [comparison(random, 2, 20, 4.0, shift, lost, 0.0) for shift, lost in [(1.0, 0.0), (2.0, 0.1)]]
    path = pathlib.Path(__file__).with_name("reference.json")
    path.write_text(json.dumps(cases, indent=None, separators=(",", ":")).replace('},{"neg', '},\n{"neg') + "\n")
    verdicts = [f["verdict"] for case in cases for f in case["expected"]]
    print({word: verdicts.count(word) for word in sorted(set(verdicts))})


main()
