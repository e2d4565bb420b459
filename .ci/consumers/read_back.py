"""Whether the exports of a comparison's folder hold what its runs have measured, as TensorBoard and MLflow read them."""

import csv
import json
import pathlib
import sys

from mlflow import MlflowClient
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

folder, tracking = pathlib.Path(sys.argv[1]), sys.argv[2]
results = json.loads((folder / "results.json").read_text())
measure = results["criterion"]["primary"]
split, _, quantity = measure.partition("_")
board_tag = f"{quantity}/{split}" if split in ("train", "valid", "test") else measure


def curve(run):
    """What a run has measured after every epoch."""
    with open(run / "metrics.csv", newline="") as file:
        return [float(row[measure]) for row in csv.DictReader(file)]


expected = {run.name: curve(run) for run in (folder / "runs").iterdir()}
assert expected and all(expected.values()), expected

boards = {}
for events in (folder / "tensorboard").rglob("events*"):
    board = EventAccumulator(str(events.parent), size_guidance={"scalars": 0})
    board.Reload()
    boards[events.parent.name] = [event.value for event in board.Scalars(board_tag)]
assert len(boards) == len(expected), (boards.keys(), expected.keys())


def close(found, curves):
    """Whether the curves are these, in any order; TensorBoard has them in f32."""
    pairs = zip(sorted(found), sorted(curves), strict=True)
    return all(
        len(a) == len(b) and all(abs(x - y) <= 1e-6 * abs(y) for x, y in zip(a, b)) for a, b in pairs
    )


assert close(boards.values(), expected.values()), (boards, expected)

client = MlflowClient(tracking)
experiment = client.get_experiment_by_name(results["experiment"])
runs = client.search_runs([experiment.experiment_id])
histories = [
    [point.value for point in sorted(client.get_metric_history(run.info.run_id, measure), key=lambda p: p.step)]
    for run in runs
]
assert close(histories, expected.values()), (histories, expected)
print(f"{len(runs)} runs of {results['experiment']} in TensorBoard and MLflow")
