"""What every mechanism shares: declared parameters, checks with a clear sentence, and `release`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Self, cast

import numpy as np
import param
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid import values
from explorer.grid.cards import card
from explorer.grid.grid import Grid
from explorer.mechanisms.decisions import UNKNOWN, Decision
from explorer.mechanisms.declared import Declared
from explorer.mechanisms.duration import title_of_bar
from explorer.mechanisms.figures import Figures
from explorer.mechanisms.forecast import Forecast, forecast
from explorer.mechanisms.limits import Epsilon
from explorer.mechanisms.options import INTERPOLATED
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.bars import Progress, teller
from explorer.privacy.counts import Counts, MadeUp, Prepared
from explorer.privacy.curator import Curator
from explorer.privacy.epsilon_range import MAX_EPSILON, check_noise, check_settings
from explorer.privacy.ledger import Ledger
from explorer.privacy.noise import (
    AskedNoise,
    NoiseSource,
    ReleaseNoise,
    is_release_grade,
    noise_source,
)
from explorer.privacy.regions import Boxes
from explorer.releases import inference
from explorer.releases.inference import Estimate
from explorer.releases.release import Release, in_records
from explorer.releases.transcript import Transcript
from explorer.releases.units import UNITS_PER_EPSILON, to_units

#: Where no epsilon is given.
_DECLARED: Any = object()
_FEW_DIMENSIONS = 3  # are named one by one
_WARM: set[tuple[type, str]] = set()


def as_counts(matrix: Counts | ArrayLike) -> Counts:
    """Counts as they are; an array as a matrix of cells. Raises InputError for what is neither."""
    if hasattr(matrix, "domain") and hasattr(matrix, "contribution_bound"):
        return cast(Counts, matrix)
    if hasattr(matrix, "count_on") or hasattr(matrix, "geometry"):
        raise InputError(
            "A mechanism takes counts, and these are records: count them first, grid.count(points)."
        )
    return FrequencyMatrix.from_array(matrix)


class Mechanism(param.Parameterized, metaclass=Declared):
    """Turns exact counts into an epsilon-differentially private map.

    A subclass declares its parameters once (`param`: bounds, step, label, help; widgets and
    command-line flags derive from them) and writes `plan`. Whatever else is said of it anywhere
    is on the class too, so that a new mechanism is one file and one line of the registry.

    Parameters
    ----------
    epsilon : float, `MIN_EPSILON` to `MAX_EPSILON`
        The whole privacy budget of one release: with or without any one record (any one user,
        where users are protected), every possible map is at most e^epsilon times as likely. A
        subclass takes its own parameters by their names next to it.

    Attributes
    ----------
    key, title, summary, paper : its name in files, on screens, in one sentence, and its source
    group : its heading in menus
    dimensions : numbers of dimensions of the counts that it takes
    for_maps : whether menus and comparisons of maps offer it
    colour : a name in the palette of the charts, such as "red", or a hex colour; "" leaves it open
    marker, dash : a Bokeh marker; "solid" (the marker filled) or "dashed" (the marker open)
    compared_first : whether comparisons begin with it
    lesson_settings : parameters with which a lesson shows it, where its own are not the simplest
    none_is : what the switch says for a parameter whose None is no automatic choice
    named : values of a number that have a name, by parameter, for menus

    Raises
    ------
    InputError
        For a name it does not have, a value outside its bounds, or see `check_settings`.

    Examples
    --------
    All mechanisms are used alike:

    >>> from explorer import HTF, UG, Mechanism
    >>> issubclass(UG, Mechanism)
    True
    >>> tried = UG(epsilon=0.5, c=5).release([[9, 0], [8, 1]], rng=7)
    >>> tried.mechanism, tried.preview
    ('ug', True)
    >>> UG.of(tried) == UG(epsilon=0.5, c=5)
    True
    >>> HTF.tunables()[:3], UG(c=5).settings()["c"]
    (['height', 'T', 'stop_rule'], 5.0)
    >>> HTF(epsilon=0.5).warm_up()  # compiles, so that the first release does not wait
    """

    key: ClassVar[str] = ""
    title: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    paper: ClassVar[str] = ""
    group: ClassVar[str] = "Others"
    dimensions: ClassVar[Collection[int]] = (2,)
    for_maps: ClassVar[bool] = True
    colour: ClassVar[str] = ""
    marker: ClassVar[str] = "circle"
    dash: ClassVar[str] = "solid"
    compared_first: ClassVar[bool] = False
    lesson_settings: ClassVar[Mapping[str, Any]] = {}
    none_is: ClassVar[Mapping[str, str]] = {}
    named: ClassVar[Mapping[str, Mapping[str, float]]] = {}

    epsilon = Epsilon(
        default=0.1,
        softbounds=(0.01, 10),
        doc="Privacy budget of the whole release: small is private and noisy, large is accurate.",
    )

    def __init__(self, epsilon: Any = _DECLARED, /, **settings: Any) -> None:
        check_settings()
        if epsilon is not _DECLARED:
            if "epsilon" in settings:
                raise InputError(f"{self.title} got two budgets: give epsilon once.")
            settings["epsilon"] = epsilon
        for name, value in settings.items():
            settings[name] = self._checked(name, value)
        super().__init__(**settings)

    def plan(self, curator: Curator) -> Estimate:
        """Partition, spend, measure, infer: the mechanism itself, on budgeted questions only."""
        raise InputError("Choose one of the mechanisms: Mechanism itself has no plan.")

    def decision(self, node: Figures) -> Decision:
        """Why a node of a release that this mechanism made ended or went on.

        Read from released figures alone, so that a saved release can be explained too. A figure
        that the release does not hold may raise: `inspection.decision` then says "unknown".
        """
        return UNKNOWN

    @property
    def shape_is_public(self) -> bool:
        """Whether, under the present settings, no data has a say in the partition."""
        return False

    @property
    def has_known_distribution(self) -> bool:
        """Whether no data chooses the leaves and each publishes its one draw as it is.

        An answer is then distributed like a sum of known draws, see `teaching.neighbours`.
        """
        inferred = getattr(self, "inference", "leaves"), getattr(self, "inside", "uniform")
        return self.shape_is_public and inferred == ("leaves", "uniform")

    def release(
        self,
        matrix: Counts | ArrayLike,
        rng: int | np.random.Generator | NoiseSource | None = None,
        progress: Progress = None,
        ledger: Ledger | None = None,
    ) -> Release:
        """Draw one private map.

        Parameters
        ----------
        matrix : FrequencyMatrix or other Counts, or (rows, cols) array of int, 0 or more
        rng : None, int of 0 or more, numpy Generator or NoiseSource
            None draws release-grade noise (OpenDP). A seed or Generator draws a reproducible
            preview, about a hundred times faster, which is not private. A source of noise is for
            tests and audits; what it draws counts as a preview.
        progress : True or callable, optional
            True shows a bar; a callable gets the finished part (0 to 1) of the release. It cannot
            stop a draw that is booked: an error of its own is a warning then.
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
            For counts or an `rng` that cannot be used, counts of a number of dimensions that the
            mechanism does not take, or a draw over the ledger's cap.
        """
        counts = as_counts(matrix)
        d = len(counts.domain.shape)
        self._check_dimensions(d)
        source = noise_source(rng)
        self._check_size(counts.domain.shape, not is_release_grade(source))
        paid = ledger is not None and is_release_grade(source)
        report = teller(progress, title_of_bar(self, counts, progress, source.preview), paid)
        if is_release_grade(source):
            check_noise(counts.contribution_bound, self.epsilon)
        curator = Curator(counts, to_units(self.epsilon), source, report)
        if ledger is None or not paid:
            estimate = self.plan(curator)
        else:
            # What cannot be made ready must fail, or be interrupted, before it is booked.
            self.warm_up(counts)
            booked = ledger.book(counts, curator.units, self.key, repr(self))
            try:
                estimate = self.plan(curator)
            except InputError:
                # Impossible by noisy figures. Closed, or a plan that kept its curator could
                # go on and draw what is given back here.
                ledger.lower(booked, curator.close())
                raise
        drawn = Release.from_estimate(
            estimate,
            inside=getattr(self, "inside", "uniform") if d in INTERPOLATED else "uniform",
            mechanism=self.key,
            parameters=self.settings(),
            units=curator.units,
            preview=not is_release_grade(source),
            domain=counts.domain,
            unit=counts.unit,
            contribution_bound=counts.contribution_bound,
            ledger=tuple(curator.ledger),
        )
        return in_records(drawn, curator.lattice)

    def summarize(
        self, grid: Grid, expected: float = 1_000_000, *, contribution_bound: int = 1
    ) -> Forecast:
        """Leaves and noise to be expected on an extent, before any data is looked at.

        Previews of made-up records: spread evenly, and around one town, since many partitions
        follow the data. It costs no budget. What unevenness inside leaves adds to an answer's
        error depends on the data and is not in it.

        Parameters
        ----------
        grid : Grid
            The public extent.
        expected : float, 1 to 10^9
            How many records there are, about.
        contribution_bound : int, 1 or more
            How many records a user may give; above 1 users are protected.

        Returns
        -------
        Forecast
            With ``to_frame()``: leaves and standard deviations, in records, for each layout.

        Raises
        ------
        InputError
            For an extent that is no grid, another number, or a mechanism that takes no maps.

        Examples
        --------
        >>> from explorer import UG, Grid
        >>> grid = Grid.around(13.4, 52.5, "20km", shape=256)
        >>> for epsilon in (0.1, 1):
        ...     found = UG(epsilon).summarize(grid, expected=1e6).to_frame()
        ...     print(found.loc["one town"].round().tolist())
        [10000.0, 14.0, 714.0, 1428.0]
        [65536.0, 1.0, 176.0, 351.0]
        """
        return forecast(repr(self), self.release, grid, expected, contribution_bound)

    def warm_up(self, counts: Counts | None = None) -> None:
        """Compile and load whatever a release with these settings needs, on made-up counts.

        Once a process for each kind of mechanism and settings; some milliseconds where compiled
        code is cached, seconds where it is not. `counts` that are to be released are made ready
        for questions, too.

        Parameters
        ----------
        counts : Counts, optional
            Those that are to be released.

        Raises
        ------
        InputError
            For settings that no release can have, such as a map that is too fine.
        """
        if isinstance(counts, Prepared):
            counts.prepare()
        what = type(self), repr(self.settings())
        if what in _WARM:
            return
        # With little noise no test for stopping ends it early.
        clear = type(self)(**{**self.settings(), "epsilon": MAX_EPSILON})
        if 2 in self.dimensions:
            rows, cols = np.indices((64, 64))
            crowd = (rows < 32) & (cols < 32)
            town = np.where(crowd, 10**6, (rows + cols) % 4)
            usual = type(self)(**{**self.settings(), "epsilon": 1.0})
            # Few regions are counted in other ways than many, and where some end early draws
            # come in another order.
            quarter = town[24:40, 24:40].copy()
            for one, counts_of in ((usual, town), (clear, quarter), (clear, town)):
                release = one.release(FrequencyMatrix.from_array(counts_of), rng=0)
                one.release(FrequencyMatrix.from_array(counts_of), rng=AskedNoise(0))
        elif isinstance(counts, MadeUp):
            usual = type(self)(**{**self.settings(), "epsilon": 1.0})
            usual.release(counts.made_up(), rng=0)
            release = clear.release(counts.made_up(), rng=0)
        else:
            return
        # Made-up trips may end without regions that are not adjacent.
        _ = Boxes((2, 2), 0, 0).root().halves().select(np.array([0, 3])).lower
        # What is said and saved of a release belongs to it.
        _ = release.density(), release.summary()
        nobody = np.zeros(1, dtype=np.int64)
        paid = np.array([UNITS_PER_EPSILON], dtype=np.int64)
        ReleaseNoise().laplace(nobody, 1, paid, nobody.astype(np.uint64), "warm-up")
        _WARM.add(what)

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
        """Names of the parameters other than epsilon, in the order of their declaration.

        Returns
        -------
        list of str
        """
        return [name for name in cls.param if name not in ("name", "epsilon")]

    def settings(self) -> dict[str, Any]:
        """The present values of the `tunables`.

        Returns
        -------
        dict
            Names and values; epsilon is not among them.
        """
        return {name: getattr(self, name) for name in self.tunables()}

    def with_(self, **changes: Any) -> Self:
        """The same mechanism with other values of some parameters, epsilon among them.

        Parameters
        ----------
        **changes
            Parameters by their names.

        Returns
        -------
        Mechanism
            Of the same class; this one stays as it is.

        Raises
        ------
        InputError
            For a name that it does not have, or a value outside its range.

        Examples
        --------
        >>> from explorer import UG
        >>> changed = UG(epsilon=0.5, c=5).with_(epsilon=1.0)
        >>> changed.epsilon, changed.c
        (1.0, 5.0)
        """
        return type(self)(**{"epsilon": self.epsilon, **self.settings(), **changes})

    @classmethod
    def of(cls, release: Release) -> Self:
        """The mechanism that a release came from, with the same settings.

        Parameters
        ----------
        release : Release
            Also one that was loaded from a file.

        Returns
        -------
        Mechanism

        Raises
        ------
        InputError
            For a release of another mechanism, or settings that this one refuses.
        """
        if release.mechanism != cls.key:
            raise InputError(f"This release was made by {release.mechanism!r}, not by {cls.key!r}.")
        return cls(epsilon=release.epsilon, **release.parameters)

    def relevant(self) -> set[str]:
        """The parameters that matter under the present settings of the others."""
        return set(self.tunables())

    @classmethod
    def _check_dimensions(cls, number: int) -> None:
        if number not in cls.dimensions:
            accepted = " or ".join(map(str, cls.dimensions))
            if len(cls.dimensions) > _FEW_DIMENSIONS:
                first, second, *_, last = cls.dimensions
                accepted = (
                    f"{first} to {last}" if second == first + 1 else f"{first}, {second} to {last}"
                )
            raise InputError(
                f"{cls.title} takes counts of {accepted} dimensions, these have {number}: choose "
                "another mechanism."
            )

    def require_release(self, shape: tuple[int, ...]) -> None:
        """Raise `InputError` where a release over a domain of that shape would publish too much."""
        self._check_size(shape, preview=False)

    def _check_size(self, shape: tuple[int, ...], preview: bool) -> None:
        """Refuse a domain on which the present settings make too many numbers, in one sentence."""

    @classmethod
    def _checked(cls, name: str, value: Any) -> Any:
        """The value in the parameter's own type, or an InputError in one sentence."""
        if name not in cls.param or name == "name":
            names = ", ".join(["epsilon", *cls.tunables()])
            raise InputError(f"{cls.title} has no parameter {name!r}: it has {names}.")
        return values.checked(cls.param[name], value)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash((type(self), repr(self)))

    def _repr_html_(self) -> str:
        now = {"epsilon": f"{self.epsilon:.12g}", **self.settings()}
        changed = {n: v for n, v in now.items() if n == "epsilon" or v != self.param[n].default}
        note = "" if len(changed) > 1 else "All other parameters as declared."
        rows = {**{n: str(v) for n, v in changed.items()}, "source": self.paper}
        return card(self.title, rows, note=f"{self.summary} {note}".strip())

    def __str__(self) -> str:
        return repr(self)

    def __repr__(self) -> str:
        arguments = [f"{n}={v!r}" for n, v in {"epsilon": self.epsilon, **self.settings()}.items()]
        return f"{type(self).__name__}({', '.join(arguments)})"
