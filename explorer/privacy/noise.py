"""Where noise comes from: OpenDP for releases, seeded noise for previews.

Both sources draw whole numbers from one distribution. `ReleaseNoise` leaves every draw to OpenDP,
whose sampler is exact and takes its bytes from the operating system; it cannot be seeded.
`PreviewNoise` is about a hundred times faster and reproducible: every draw is a function of (seed,
stage, region, draw number), so moving epsilon rescales the same noise. A preview is not private.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cache, lru_cache
from typing import Protocol, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.privacy import keyed
from explorer.releases.nodes import one_or_each
from explorer.releases.units import UNITS_PER_EPSILON

Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]


@runtime_checkable
class NoiseSource(Protocol):
    """What the curator asks of a source of noise."""

    preview: bool

    def laplace(self, values: Ints, sensitivity: int, units: Ints, keys: Keys, stage: str) -> Ints:
        """Add discrete Laplace noise of scale sensitivity / epsilon to every value.

        Parameters
        ----------
        values : (n,) exact whole numbers
        sensitivity : how far one record moves the vector of values (L1), 1 or more
        units : (n,) budget of every draw in 10^-12 epsilon, above 0
        keys, stage : names of the draws; only previews look at them
        """
        ...

    def lowest(
        self,
        costs: Ints,
        offsets: Ints,
        sensitivity: int,
        units: Ints,
        keys: Keys,
        stage: str,
    ) -> Ints:
        """Permute-and-flip: an index of nearly the lowest cost for each of n ragged groups.

        Parameters
        ----------
        costs : (m,) exact whole numbers, group by group
        offsets : (n + 1,) where each group begins in `costs`; no group is empty
        sensitivity : how far one record moves any single cost
        units : (n,) budget of every selection

        Returns
        -------
        (n,) positions inside the groups
        """
        ...

    def above(
        self, values: Ints, threshold: int, sensitivity: int, units: Ints, keys: Keys, stage: str
    ) -> NDArray[np.bool_]:
        """Whether each value plus discrete Laplace noise (as in `laplace`) passes a threshold.

        A method of its own because a proof may rest on the decision alone (PrivTree).
        """
        ...


class ReleaseNoise:
    """Exact noise from OpenDP (`make_laplace` on whole numbers, `make_noisy_max`)."""

    preview = False

    def laplace(self, values: Ints, sensitivity: int, units: Ints, keys: Keys, stage: str) -> Ints:
        """See `NoiseSource.laplace`; about 150,000 draws a second."""
        noisy = np.empty(len(values), dtype=np.int64)
        order = np.argsort(units, kind="stable")
        starts = np.flatnonzero(np.diff(units[order], prepend=-1))
        for group in np.split(order, starts[1:]) if len(order) else []:
            measure = _opendp_laplace(sensitivity, int(units[group[0]]))
            noisy[group] = measure(values[group].tolist())
        return noisy

    def lowest(
        self,
        costs: Ints,
        offsets: Ints,
        sensitivity: int,
        units: Ints,
        keys: Keys,
        stage: str,
    ) -> Ints:
        """See `NoiseSource.lowest`; with max-divergence OpenDP's noisy max is permute-and-flip."""
        chosen = np.empty(len(units), dtype=np.int64)
        # One measurement for each budget: to make it takes as long as to call it.
        selects = {unit: _opendp_lowest(sensitivity, unit) for unit in {*units.tolist()}}
        for i, unit in enumerate(units.tolist()):
            chosen[i] = selects[unit](costs[offsets[i] : offsets[i + 1]].tolist())
        return chosen

    def above(
        self, values: Ints, threshold: int, sensitivity: int, units: Ints, keys: Keys, stage: str
    ) -> NDArray[np.bool_]:
        """See `NoiseSource.above`."""
        return self.laplace(values, sensitivity, units, keys, stage) > threshold


class PreviewNoise:
    """Reproducible noise for screens and lessons; never for a release.

    Parameters
    ----------
    seed : whole number; the same seed repeats every draw bit for bit
    """

    preview = True

    def __init__(self, seed: int) -> None:
        self.seed = int(seed)

    def laplace(self, values: Ints, sensitivity: int, units: Ints, keys: Keys, stage: str) -> Ints:
        """See `NoiseSource.laplace`: the inverse distribution function of a hashed uniform."""
        noisy = np.empty(len(values), np.int64)
        scale = self.scale(sensitivity)
        units = one_or_each(units)
        memory = keyed.working_memory(len(values))
        keyed.add_laplace(values, units, scale, keys, self._stage_key(stage), noisy, *memory)
        return noisy

    def lowest(
        self,
        costs: Ints,
        offsets: Ints,
        sensitivity: int,
        units: Ints,
        keys: Keys,
        stage: str,
    ) -> Ints:
        """See `NoiseSource.lowest`: the smallest cost less exponential noise of scale 2 s / eps.

        That is distributed as permute-and-flip (Ding et al., The permute-and-flip mechanism is
        identical to report-noisy-max with exponential noise, 2021).
        """
        scale = 2.0 * sensitivity * UNITS_PER_EPSILON / units
        chosen = np.empty(len(units), dtype=np.int64)
        keyed.lowest(costs, offsets, scale, keys, self._stage_key(stage), chosen)
        return chosen

    def above(
        self, values: Ints, threshold: int, sensitivity: int, units: Ints, keys: Keys, stage: str
    ) -> NDArray[np.bool_]:
        """See `NoiseSource.above`."""
        return self.laplace(values, sensitivity, units, keys, stage) > threshold

    @staticmethod
    def scale(sensitivity: int) -> float:
        """The scale of the noise at a budget of one unit."""
        return float(UNITS_PER_EPSILON) * sensitivity

    def salts(self, stages: Iterable[str]) -> Keys:
        """The words that distinguish the draws of these stages, (m,)."""
        return np.array([self._stage_key(stage) for stage in stages], dtype=np.uint64)

    def _stage_key(self, stage: str) -> np.uint64:
        return _stage_key(self.seed, stage)


@lru_cache(maxsize=1024)
def _stage_key(seed: int, stage: str) -> np.uint64:
    text = f"{seed}/{stage}".encode()
    return np.uint64(int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little"))


def is_release_grade(source: NoiseSource) -> bool:
    """Whether what a source draws is a release: only OpenDP makes one, all else makes previews.

    Both what is booked and what a release says of itself follow this.
    """
    return type(source) is ReleaseNoise


def is_plain_preview(source: NoiseSource) -> TypeGuard[PreviewNoise]:
    """Whether a source draws as `PreviewNoise` does: by names alone, and kernels can do it for it.

    One that inherits may draw otherwise: it is asked for every draw.
    """
    return type(source) is PreviewNoise


def noise_source(rng: int | np.random.Generator | NoiseSource | None) -> NoiseSource:
    """The source for an `rng` argument: OpenDP for None, seeded noise for a seed or a Generator.

    A source represents itself; the audit comes in by the front door with one that records. What it
    draws counts as a preview, see `Mechanism.release`.
    """
    if rng is None:
        return ReleaseNoise()
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool):
        return PreviewNoise(int(rng))
    if isinstance(rng, np.random.Generator):
        return PreviewNoise(int(rng.integers(2**63)))
    # Asked last: looking for the methods of a source takes a while.
    if isinstance(rng, NoiseSource):
        return rng
    raise InputError(f"rng is {rng!r}: give None for a release or a whole number as a seed.")


def _safe_scale(sensitivity: int, units: int) -> float:
    """Sensitivity / epsilon as the nearest float that is not below the exact fraction."""
    exact = Fraction(sensitivity * UNITS_PER_EPSILON, units)
    scale = float(exact)
    return scale if Fraction(scale) >= exact else math.nextafter(scale, math.inf)


def _opendp_laplace(sensitivity: int, units: int):  # type: ignore[no-untyped-def]
    # Imported here: loading OpenDP takes a second that previews need not wait for.
    import opendp.prelude as dp

    domain, l1, _, _ = _opendp_spaces()
    return dp.m.make_laplace(domain, l1, scale=_safe_scale(sensitivity, units))


def _opendp_lowest(sensitivity: int, units: int):  # type: ignore[no-untyped-def]
    import opendp.prelude as dp

    domain, _, linf, divergence = _opendp_spaces()
    scale = _safe_scale(2 * sensitivity, units)
    return dp.m.make_noisy_max(domain, linf, divergence, scale=scale, negate=True)


@cache
def _opendp_spaces():  # type: ignore[no-untyped-def]
    """Domain of whole numbers, its two distances, and what bounds a loss: made once."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    whole = dp.vector_domain(dp.atom_domain(T="i64"))
    return whole, dp.l1_distance(T="i64"), dp.linf_distance(T="i64"), dp.max_divergence()


class AskedNoise(PreviewNoise):
    """The noise of a preview, asked for every draw as the source of a release is.

    `Curator.cut` has a shorter way for previews alone.
    """
