#!/usr/bin/env python3
"""Joins the runs of comparisons into one table, whose tasks are the comparisons' tables and formulas, or they themselves.

    python3 evidence/tasks.py results/tasks-{tables,formulas,mnist,tweets} > results/tasks.csv
"""

import csv
import sys
from pathlib import Path

SCORES = {"symbolic": "test_rmse"}
print("task,activation,seed,score,kind")
for folder in sys.argv[1:]:
    with open(Path(folder) / "runs.csv", newline="") as file:
        for run in csv.DictReader(file):
            # The rows that verdicts count: planned runs at the rate that the arm uses.
            if run["counts"] != "true":
                continue
            experiment = run["experiment"]
            task = run.get("table") or run.get("formula", "").split("=")[0] or experiment
            score = "inf" if run["status"] == "diverged" else run[SCORES.get(experiment, "test_error")]
            print(f"{task},{run['activation']},{run['seed']},{score},{experiment}")
