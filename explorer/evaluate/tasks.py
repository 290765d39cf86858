"""Tasks: which releases an evaluation draws. A task is one mechanism, one epsilon, one seed."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import param

from explorer.errors import InputError
from explorer.evaluate.workloads import Workload
from explorer.mechanisms import mechanism
from explorer.mechanisms.base import Mechanism
from explorer.points.matrix import FrequencyMatrix
from explorer.version import __version__

Choice = Mechanism | type[Mechanism] | str | tuple[str, Mapping[str, Any]]
"""A mechanism as people give it: an instance, a class, a name, or a name with parameters."""
Sweep = tuple[str, Iterable[Any]] | Mapping[str, Iterable[Any]]
"""Values of one parameter, or of several, every combination."""


@dataclass(frozen=True)
class Task:
    """One release to draw and measure.

    Attributes
    ----------
    mechanism : str
    parameters : str
        JSON of every parameter besides epsilon, names sorted.
    epsilon : float
    seed : int
        Of the preview. The same seed means the same random noise for all mechanisms and epsilons,
        so differences between tasks of one seed are paired.
    """

    mechanism: str
    parameters: str
    epsilon: float
    seed: int

    @classmethod
    def of(cls, mechanism: Mechanism, seed: int) -> Task:
        """The task of an instance."""
        settings = {
            name: _plain(mechanism.param[name], v) for name, v in mechanism.settings().items()
        }
        return cls(
            mechanism.key, json.dumps(settings, sort_keys=True), float(mechanism.epsilon), int(seed)
        )

    def build(self) -> Mechanism:
        """The mechanism, with its parameters checked."""
        return mechanism(self.mechanism)(epsilon=self.epsilon, **json.loads(self.parameters))

    def key(self, matrix: FrequencyMatrix, workloads: Sequence[Workload]) -> str:
        """Hash of everything that the outcome depends on, software version included."""
        about = [
            __version__,
            matrix.key,
            matrix.contribution_bound,
            matrix.unit,
            self.mechanism,
            self.parameters,
            self.epsilon,
            self.seed,
            *(workload.key for workload in workloads),
        ]
        if matrix.unclipped is not None:
            # The errors are against all records, which the key of the counts does not tell.
            about.append(matrix.unclipped.key)
        return hashlib.sha256(json.dumps(about).encode()).hexdigest()[:24]


def plan(
    mechanisms: Iterable[Choice],
    epsilons: Iterable[float] | None = None,
    seeds: int | Iterable[int] = 5,
    sweep: Sweep | None = None,
) -> list[Task]:
    """Every combination, seed by seed, so that a comparison is complete early and then firms up.

    Parameters
    ----------
    mechanisms : instances, names, or (name, parameters)
    epsilons : budgets; None keeps each instance's own
    seeds : how many (0, 1, ...) or which
    sweep : (parameter, values), or a mapping of several
        Applies to the mechanisms that have the parameter; the others run as they are.

    Raises
    ------
    InputError
        For a parameter that no mechanism has, a value outside its bounds, or nothing to do.
    """
    swept = dict([sweep] if isinstance(sweep, tuple) else sweep or {})
    axes = {name: list(values) for name, values in swept.items()}
    bases = [_instance(choice) for choice in mechanisms]
    for name, values in axes.items():
        if name == "epsilon":
            raise InputError("Epsilon is not swept: give its values as epsilons.")
        if not any(name in base.tunables() for base in bases):
            raise InputError(f"None of the mechanisms has a parameter {name!r}: see their lists.")
        if not values:
            raise InputError(f"The sweep over {name!r} has no values: give at least one.")
    budgets = None if epsilons is None else [float(epsilon) for epsilon in epsilons]
    numbers = range(seeds) if isinstance(seeds, int) else [int(seed) for seed in seeds]
    instances = [
        base.with_(epsilon=epsilon, **settings)
        for base in bases
        for settings in _settings(base, axes)
        for epsilon in ([base.epsilon] if budgets is None else budgets)
    ]
    tasks = [Task.of(instance, seed) for seed in numbers for instance in instances]
    if not tasks:
        raise InputError("There is nothing to evaluate: give a mechanism, an epsilon and a seed.")
    return list(dict.fromkeys(tasks))


def _plain(declared: param.Parameter, value: Any) -> Any:
    """A value in the one form that JSON is to see: a default of 10 may represent 10.0."""
    real = isinstance(declared, param.Number) and not isinstance(declared, param.Integer)
    return float(value) if real and value is not None else value


def _instance(choice: Choice) -> Mechanism:
    if isinstance(choice, Mechanism):
        return choice
    if isinstance(choice, type) and issubclass(choice, Mechanism):
        return choice()
    if not isinstance(choice, str | tuple):
        raise InputError(f"{choice!r} is no mechanism: give a class, such as HTF, or its name.")
    name, settings = (choice, {}) if isinstance(choice, str) else choice
    return mechanism(name)(**settings)


def _settings(base: Mechanism, axes: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    tunable = {name: values for name, values in axes.items() if name in base.tunables()}
    return [
        dict(zip(tunable, values, strict=True)) for values in itertools.product(*tunable.values())
    ]
