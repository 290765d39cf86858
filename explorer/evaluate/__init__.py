"""Evaluation: mechanisms compared on fixed workloads, with repetitions paired by their seeds.

`evaluate` gives a table at the end; `plan` and `runs` give finished runs one after the other, with
progress and a flag to stop. Everything here compares with exact counts: it is the curator's.
"""

from explorer.evaluate.comparison import compare
from explorer.evaluate.metrics import measure
from explorer.evaluate.ranking import ranking, scores, verdict
from explorer.evaluate.repeats import ErrorParts, biases
from explorer.evaluate.results import Run, Store, label, parameter, tidy
from explorer.evaluate.runs import evaluate, runs
from explorer.evaluate.simulation import (
    Simulated,
    about_boxes,
    about_flows,
    simulate,
    simulated_flows,
    simulated_sd,
)
from explorer.evaluate.tasks import Task, plan
from explorer.evaluate.workloads import Workload, workload, workloads

__all__ = [
    "ErrorParts",
    "Run",
    "Simulated",
    "Store",
    "Task",
    "Workload",
    "about_boxes",
    "about_flows",
    "biases",
    "compare",
    "evaluate",
    "label",
    "measure",
    "parameter",
    "plan",
    "ranking",
    "runs",
    "scores",
    "simulate",
    "simulated_flows",
    "simulated_sd",
    "tidy",
    "verdict",
    "workload",
    "workloads",
]
