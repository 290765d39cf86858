"""What every mechanism shares: declared parameters, checks with a clear sentence, and `release`."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection
from typing import Any, ClassVar

import numpy as np
import param
from numpy.typing import ArrayLike, NDArray

from explorer import inference
from explorer.errors import InputError
from explorer.inference import Estimate
from explorer.matrix import FrequencyMatrix
from explorer.privacy.curator import Curator
from explorer.privacy.ledger import Ledger
from explorer.privacy.noise import ReleaseNoise, noise_source
from explorer.privacy.transcript import Transcript
from explorer.privacy.units import UNITS_PER_EPSILON, to_units
from explorer.release import Release

MIN_EPSILON = 1e-6


def _largest_epsilon(setting: str) -> float:
    try:
        largest = float(setting)
    except ValueError:
        largest = math.nan
    if not (math.isfinite(largest) and largest >= 0.1):
        raise InputError(
            f"EXPLORER_MAX_EPSILON is {setting!r}: set it to a number of 0.1 or more, or leave it."
        )
    return largest


_SETTING_FAULT: InputError | None = None
try:
    MAX_EPSILON = _largest_epsilon(os.environ.get("EXPLORER_MAX_EPSILON", "10"))
except InputError as _fault:
    # An error while importing would be a traceback even of --help: it waits for `check_settings`.
    MAX_EPSILON, _SETTING_FAULT = 10.0, _fault
"""Epsilon above this is refused: e^10 = 22,000 promises nobody anything. A setting, see README."""

EPSILON_RANGE = f"{MIN_EPSILON:f} to {MAX_EPSILON:g}"
"""What epsilon may be, in words for a sentence."""


def check_settings() -> None:
    """Refuse to work under settings of the environment that cannot be.

    Raises
    ------
    InputError
        If EXPLORER_MAX_EPSILON is no number of 0.1 or more.
    """
    if _SETTING_FAULT is not None:
        raise InputError(str(_SETTING_FAULT))


class Mechanism(param.Parameterized):
    """Turns exact counts into an epsilon-differentially private map.

    A subclass declares its parameters once (`param`: bounds, step, label, help; widgets and
    command-line flags derive from them) and writes `plan`.

    Parameters
    ----------
    epsilon : float, `MIN_EPSILON` to `MAX_EPSILON`
        The whole privacy budget of one release.
    **settings
        The mechanism's own parameters.

    Raises
    ------
    InputError
        For a name it does not have, a value outside its bounds, or see `check_settings`.
    """

    key: ClassVar[str] = ""
    title: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    paper: ClassVar[str] = ""

    epsilon = param.Number(
        default=0.1,
        bounds=(MIN_EPSILON, MAX_EPSILON),
        softbounds=(0.01, 10),
        label="Epsilon",
        doc="Privacy budget of the whole release: small is private and noisy, large is accurate.",
    )

    def __init__(self, **settings: Any) -> None:
        check_settings()
        for name, value in settings.items():
            settings[name] = self._checked(name, value)
        super().__init__(**settings)

    def plan(self, curator: Curator) -> Estimate:
        """Partition, spend, measure, infer: the mechanism itself, on budgeted questions only."""
        raise InputError("Choose one of the mechanisms: Mechanism itself has no plan.")

    def release(
        self,
        matrix: FrequencyMatrix | ArrayLike,
        rng: int | np.random.Generator | None = None,
        progress: Callable[[float], None] | None = None,
        ledger: Ledger | None = None,
    ) -> Release:
        """Draw one private map.

        Parameters
        ----------
        matrix : FrequencyMatrix, or (rows, cols) array of counts
        rng : None, int or numpy Generator
            None draws release-grade noise (OpenDP). A seed or Generator draws a reproducible
            preview, about a hundred times faster, which is not private.
        progress : callable, optional
            Told the finished part (0 to 1) of long measurements.
        ledger : Ledger, optional
            Where a release-grade draw is booked before any noise is drawn; one that would pass the
            ledger's cap is refused with an InputError. A preview books nothing.

        Returns
        -------
        Release
            It holds no exact count.

        Raises
        ------
        InputError
            For counts or an `rng` that cannot be used, or a draw over the ledger's cap.
        """
        if not isinstance(matrix, FrequencyMatrix):
            matrix = FrequencyMatrix.from_array(matrix)
        source = noise_source(rng)
        curator = Curator(matrix, to_units(self.epsilon), source, progress)
        if ledger is not None and not source.preview:
            # What cannot be compiled or loaded must fail, or be interrupted, before it is paid for.
            self.warm_up()
            ledger.book(matrix.key, curator.units, self.key, repr(self))
        estimate = self.plan(curator)
        return Release.from_estimate(
            estimate,
            inside=getattr(self, "inside", "uniform"),
            mechanism=self.key,
            parameters={name: getattr(self, name) for name in self.tunables()},
            units=curator.units,
            # Only OpenDP makes a release; whatever else drew the noise made a preview.
            preview=not isinstance(source, ReleaseNoise),
            grid=matrix.grid,
            unit=matrix.unit,
            contribution_bound=matrix.contribution_bound,
            ledger=tuple(curator.ledger),
        )

    def warm_up(self) -> None:
        """Compile and load whatever a release with these settings needs, on made-up counts."""
        settings = {name: getattr(self, name) for name in self.tunables()}
        # With little noise no test for stopping ends it early.
        clear = type(self)(epsilon=MAX_EPSILON, **settings)
        rows, cols = np.indices((64, 64))
        crowd = (rows < 32) & (cols < 32)
        counts = np.where(crowd, 10**6, (rows + cols) % 4)
        clear.release(FrequencyMatrix.from_array(counts), rng=0).density()
        nobody = np.zeros(1, dtype=np.int64)
        paid = np.array([UNITS_PER_EPSILON], dtype=np.int64)
        ReleaseNoise().laplace(nobody, 1, paid, nobody.astype(np.uint64), "warm-up")

    def infer(
        self,
        transcript: Transcript,
        leaf_stages: Collection[str],
        stages: Collection[str] | None = None,
        largest_share: NDArray[np.float64] | None = None,
    ) -> Estimate:
        """The inference that the parameter `inference` names, over draws of the given stages."""
        chosen = self.inference  # declared by the mechanisms that call this
        if chosen == "leaves":
            return inference.leaves(transcript, leaf_stages)
        solve = inference.split if chosen == "split" else inference.least_squares
        return solve(transcript, stages, largest_share)

    @classmethod
    def tunables(cls) -> list[str]:
        """Names of the parameters besides epsilon, in the order of their declaration."""
        return [name for name in cls.param if name not in ("name", "epsilon")]

    def relevant(self) -> set[str]:
        """The parameters that matter under the present settings of the others."""
        return set(self.tunables())

    @classmethod
    def _checked(cls, name: str, value: Any) -> Any:
        """The value in the parameter's own type, or an InputError in one sentence."""
        if name not in cls.param or name == "name":
            known = ", ".join(["epsilon", *cls.tunables()])
            raise InputError(f"{cls.title} has no parameter {name!r}: it has {known}.")
        declared = cls.param[name]
        if isinstance(declared, param.Selector):
            if not any(type(value) is type(each) and value == each for each in declared.objects):
                choices = ", ".join(repr(choice) for choice in declared.objects)
                raise InputError(f"{declared.label} is {value!r}: choose one of {choices}.")
            return value
        if value is None and declared.allow_None:
            return None
        return _checked_number(declared, value)

    def __repr__(self) -> str:
        shown = [f"{n}={getattr(self, n)!r}" for n in ("epsilon", *self.tunables())]
        return f"{type(self).__name__}({', '.join(shown)})"


def _checked_number(declared: param.Number, value: Any) -> float | int:
    low, high = declared.bounds
    allowed = f"{low:g} to {high:g}"
    if declared.name == "epsilon":
        allowed = EPSILON_RANGE
    whole = isinstance(declared, param.Integer)
    kind = "a whole number" if whole else "a number"
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise InputError(f"{declared.label} is {value!r}: give {kind}, {allowed}.")
    try:
        finite = math.isfinite(value)
    except OverflowError:  # a whole number of hundreds of digits
        finite, value = False, math.inf
    if not finite or (whole and value != int(value)) or not low <= value <= high:
        reason = ""
        if declared.name == "epsilon" and math.isfinite(value) and value > high:
            reason = f" (a budget above {high:g} protects nobody)"
        raise InputError(f"{declared.label} is {value:g}{reason}: give {kind}, {allowed}.")
    return int(value) if whole else float(value)
