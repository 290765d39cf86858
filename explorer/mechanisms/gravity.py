"""Gravity, our own: maps of the places times an adaptive tree over all of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np
import param
from numba import njit
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.mechanisms.base import Mechanism
from explorer.mechanisms.decisions import CELL, Decision, public
from explorer.mechanisms.figures import Figures, amount
from explorer.mechanisms.limits import require_parts
from explorer.mechanisms.mosaic import Mosaic, measured
from explorer.mechanisms.options import PLACES, inference_option
from explorer.privacy.counts import Counts, MadeUp
from explorer.privacy.curator import Curator
from explorer.privacy.epsilon_range import MAX_EPSILON
from explorer.privacy.regions import Regions
from explorer.releases import inference
from explorer.releases.inference import Estimate
from explorer.releases.nodes import Ints
from explorer.releases.place_maps import PlaceMap, PlaceMaps
from explorer.releases.transcript import Floats, Transcript
from explorer.releases.units import UNITS_PER_EPSILON, share, to_epsilon

ROOT_SHARE = 0.03  # of the tree's budget, for the noisy total
ENOUGH = 10.0  # a node is worth cutting while its count times its budget exceeds this
RATIO = 1.19  # of the shares of successive cuts, for each place
STRUCTURE_SHARE = 0.5  # of the tree's budget, where PrivTree chooses it
STEPS = 2**8  # of the tree's budget, in whole numbers of which its draws are paid
MOST_ZONES = 2**22  # flows between zones in a release

_WARM: set[tuple[int, str]] = set()


class Gravity(Mechanism):
    """How many trips go from here to there, from a tree; where exactly, from maps of the places.

    A leaf of the tree over all places says how many; where inside it they begin, stop and end comes
    from the places' own maps, which are two-dimensional and cheap: the count of a combination of
    cells is c A_1 A_2 .. A_k, the gravity model of transport science with one constant c a leaf.

    Maps: `Mosaic` on each place's two axes, one pass each. Tree: places are cut in turn, each in
    the middle of its longer side; a node is worth cutting while its count times the budget left
    exceeds 10 times the contribution bound. Inference: least squares upwards, then shares that
    cannot be negative and that expect of each half what the maps hold in it; the total is its own
    draw, which makes it unbiased. One place is Mosaic with all of the budget. All shares compose
    in sequence: the maps' passes, then what a path of the tree spends.

    The paper is this project's own (notebooks/design); figures for its choices are there.

    Examples
    --------
    >>> from explorer import Gravity, TripMatrix
    >>> trips = TripMatrix.from_coordinates(60 * [[0, 1, 3, 2]], [4, 4])
    >>> preview = Gravity(epsilon=1).release(trips, rng=7)
    >>> south, north = [0, 0, 4, 2], [0, 2, 4, 4]
    >>> there, back = preview.answer([[south, north], [north, south]]).value
    >>> bool(there > back), preview.maps is not None
    (True, True)
    """

    key: ClassVar[str] = "gravity"
    title: ClassVar[str] = "Gravity"
    summary: ClassVar[str] = (
        "Maps of the places say where, an adaptive tree of trips says how many."
    )
    paper: ClassVar[str] = "this project"
    group: ClassVar[str] = "New here"
    dimensions: ClassVar[Collection[int]] = PLACES
    for_maps: ClassVar[bool] = False
    colour: ClassVar[str] = "red"
    marker: ClassVar[str] = "diamond"
    dash: ClassVar[str] = "dashed"
    #: Of one place, which is Mosaic; several have maps.
    inside: ClassVar[str] = "interpolated"

    maps_share = param.Number(
        default=0.25,
        bounds=(0, 0.95),
        step=0.05,
        label="Share for the maps",
        doc="Part of the budget that buys a map of every place, in equal shares; with 0 there are "
        "none, and counts lie evenly inside leaves.",
    )
    partition = param.Selector(
        default="adaptive",
        objects=["adaptive", "fixed boxes", "PrivTree"],
        doc="Adaptive cuts where trips are; fixed boxes are chosen in public; PrivTree halves all "
        "axes at once and pays one price for its structure.",
    )
    box_cuts = param.Integer(
        default=10,
        bounds=(1, 18),
        softbounds=(8, 12),
        label="Cuts to fixed boxes",
        doc="With n cuts, fixed boxes are 2^n, the places cut in turn.",
    )
    none_is: ClassVar[Mapping[str, str]] = {"zones": "No zones"}
    zones = param.Integer(
        default=None,
        bounds=(2, 64),
        softbounds=(2, 16),
        allow_None=True,
        doc="Cuts every place into z x z zones first, so that flows between zones have draws of "
        "their own: the largest become several times better, everything else 17 to 30 % worse.",
    )
    inference = inference_option("split")

    def plan(self, curator: Curator) -> Estimate:
        """Draw a map of every place, grow the tree, let counts agree with both."""
        k = len(curator.shape) // 2
        if k == 1:
            return self._of_one_place().plan(curator)
        per_map = share(curator.units, self.maps_share) // k
        maps, before = None, []
        if per_map > 0:
            drawn = [_map(curator, place, per_map) for place in range(k)]
            maps = PlaceMaps(tuple(place for place, _ in drawn))
            before = [stage for _, stages in drawn for stage in stages]
        self._grow(curator, curator.open())
        transcript = replace(curator.transcript(), elsewhere=tuple(before))
        if self.inference != "split":
            estimate = self.infer(transcript, ["leaves"])
        else:
            box = transcript.lower, transcript.upper
            sizes = np.prod((box[1] - box[0]).astype(np.float64), axis=1)
            masses = sizes if maps is None else maps.masses(*box)
            estimate = inference.split(transcript, masses=masses, anchored=True)
        return replace(estimate, maps=maps)

    def decision(self, node: Figures) -> Decision:
        """Count times remaining budget against `ENOUGH`, or who else chose the partition."""
        if node.tree.lower.shape[1] == 2:
            return self._of_one_place().decision(node)
        if node.is_leaf and node.cells == 1:
            return CELL
        if self.partition == "fixed boxes":
            return public(f"one of 2^{self.box_cuts} boxes", "The boxes are chosen in public.")
        if self.partition == "PrivTree":
            reason = "The score was a noisy one. Only the outcome is released."
            if node.is_leaf:
                return Decision("stopped", "stopped by PrivTree's test: score ≤ 0", reason)
            return Decision("on", "went on by PrivTree's test: score > 0", reason)
        if not node.drawn("levels"):
            reason = "The rest of the budget was spent on this count: no further cut was possible."
            return Decision("budget", "the budget ends here", reason)
        counted = node.draw("levels")
        # What the leaf's second draw cost was still there when the first one decided.
        elsewhere = sum(part for _, part in node.release.elsewhere)
        rest = node.release.epsilon - elsewhere - node.path_epsilon + node.own_epsilon("leaves")
        enough = ENOUGH * node.release.contribution_bound
        worth = counted * rest / enough
        figures = f"{amount(counted)} × {rest:.3g} / {enough:g} = {amount(worth)}"
        if node.is_leaf:
            reason = "Too few trips for the budget left: a cut would only add noise."
            return Decision("stopped", f"stopped: {figures} < 1", reason)
        if worth >= 1:
            reason = "Count times remaining budget is enough to share among parts."
            return Decision("on", f"went on: {figures} ≥ 1", reason)
        return public("always cut", "The first cuts are chosen in public.")

    def relevant(self) -> set[str]:
        """The parameters that matter under the present settings of the others."""
        unused = {"adaptive": {"box_cuts"}, "fixed boxes": {"zones"}}
        return super().relevant() - unused.get(self.partition, {"box_cuts", "zones"})

    def warm_up(self, counts: Counts | None = None) -> None:
        """Compile what several places need, in addition to what maps do."""
        super().warm_up(counts)
        what = 0 if counts is None else len(counts.domain.shape), repr(self.settings())
        if what[0] <= 2 or what in _WARM or not isinstance(counts, MadeUp):
            return
        clear = self.with_(epsilon=MAX_EPSILON)
        release = clear.release(counts.made_up(), rng=0)
        _ = release.answer(release.boxes()[:1] / 2), release.summary()
        _WARM.add(what)

    def _of_one_place(self) -> Mosaic:
        """Mosaic, whose own inference is what "split" is to trips: without negative counts."""
        usual = self.inference == self.param["inference"].default
        return Mosaic(self.epsilon) if usual else Mosaic(self.epsilon, inference=self.inference)

    def _grow(self, curator: Curator, root: Regions) -> None:
        """Measure the tree: every path spends all that the pass may."""
        rest = int(curator.remaining(root)[0])
        counted = curator.count(root, share(rest, ROOT_SHARE), "levels")
        if self.partition == "PrivTree":
            part = share(int(curator.remaining(root)[0]), STRUCTURE_SHARE)
            leaves = curator.privtree(root, part)
            curator.count(leaves, curator.remaining(leaves), "leaves")
        elif self.partition == "fixed boxes":
            order = order_of_places(curator.shape)
            turn, cuts = np.zeros(1, dtype=np.int64), self.box_cuts
            leaves = root.grid(cuts_between(root.shape, turn, cuts, order)[0])
            curator.count(leaves, curator.remaining(leaves), "leaves")
        else:
            self._cut_where_trips_are(curator, root, counted)

    def _cut_where_trips_are(self, curator: Curator, root: Regions, counted: Ints) -> None:
        """Breadth first: nodes that `t` cuts made; whose turn it is next; what they counted."""
        k, order = len(curator.shape) // 2, order_of_places(curator.shape)
        zones = None if self.zones is None else zone_parts(curator.shape, self.zones)
        base = k if zones is None else max(1, round(math.log2(np.prod(zones))))
        ratio = RATIO**k if zones is None else 1.0
        # A release takes most of its time to set up noise of another scale: whole steps of budget
        # and one count of all leaves leave few scales.
        step = max(1, int(curator.remaining(root)[0]) // STEPS)
        nodes, t, turn, leaves = root, 0, np.zeros(1, dtype=np.int64), list[Regions]()
        while len(nodes):
            rest = curator.remaining(nodes)
            worth = counted * (rest / UNITS_PER_EPSILON) / (ENOUGH * curator.contribution_bound)
            ends = self._ends(nodes, worth, max(base - t, 0))
            ended, nodes = nodes.separate(ends)
            leaves.append(ended)
            rest, worth, turn = rest[~ends], worth[~ends], turn[~ends]
            if len(nodes) == 0:
                break
            jump = base - t if t < base else k
            part = self._portion(nodes, worth, jump, max(base - t, 0), ratio)
            steps = np.maximum(np.rint(part * rest / step).astype(np.int64), 1)
            paid = np.where(part > 0.97, rest, np.minimum(steps * step, rest))
            if zones is not None and t == 0:
                children = nodes.grid(zones)
            else:
                parts, turn = cuts_between(nodes.shape, turn, jump, order)
                children = nodes.grid(parts)
            owner = np.searchsorted(nodes.ids, children.parent)
            # Children that take all that is left are leaves already: one draw, no decision.
            final = (paid == rest)[owner]
            ended, nodes = children.separate(final)
            leaves.append(ended)
            turn, t = turn[owner][~final], t + jump
            if len(nodes):
                counted = curator.count(nodes, paid[owner][~final], "levels")
        ended = Regions.join(leaves)
        curator.count(ended, curator.remaining(ended), "leaves")

    @staticmethod
    def _ends(nodes: Regions, worth: Floats, due: int) -> NDArray[np.bool_]:
        """Which nodes are leaves: released figures alone decide, and none while cuts are due."""
        ends: NDArray[np.bool_] = nodes.cells == 1
        return ends | (worth < 1) if due == 0 else ends

    @staticmethod
    def _portion(nodes: Regions, worth: Floats, jump: int, due: int, ratio: float) -> Floats:
        """What part of their rest nodes spend on the draws below, from released figures alone."""
        return portion(worth, jump, due, nodes.lower.shape[1] // 2, ratio)

    def _check_size(self, shape: tuple[int, ...], preview: bool) -> None:
        # What the whole is cut into, whatever is in it: every place once, or all axes.
        cut = {"adaptive": len(shape) // 2, "PrivTree": len(shape)}.get(self.partition, 0)
        require_parts(self.title, 2**cut, len(shape), preview)
        if self.zones is None or self.partition != "adaptive" or len(shape) <= 2:
            return
        flows = math.prod(int(part) for part in zone_parts(shape, self.zones))
        if flows > MOST_ZONES:
            raise InputError(
                f"{self.zones} x {self.zones} zones in each of {len(shape) // 2} places have "
                f"{flows:,} flows between them, more than the {MOST_ZONES:,} that are possible: "
                "choose fewer zones."
            )


def _map(curator: Curator, place: int, units: int) -> tuple[PlaceMap, list[tuple[str, float]]]:
    """Mosaic on the two axes of one place, in a pass of its own, and what it cost by stage."""
    axes, root = [2 * place, 2 * place + 1], curator.open(units)
    measurement = measured(curator, root, axes, Mosaic().focus, f"map {place + 1} ")
    transcript = measurement.transcript
    lower = np.ascontiguousarray(transcript.lower[:, axes])
    upper = np.ascontiguousarray(transcript.upper[:, axes])
    value = inference.empty_or_not(transcript, None, measurement.near, axes).value
    leaves = transcript.is_leaf
    rows, cols = (curator.shape[axis] for axis in axes)
    drawn = PlaceMap((rows, cols), lower[leaves], upper[leaves], value[leaves])
    return drawn, _mean_by_stage(transcript, units)


def _mean_by_stage(transcript: Transcript, units: int) -> list[tuple[str, float]]:
    """What a leaf's path spent on each stage, averaged, in whole units that add up to `units`."""
    total = np.zeros_like(transcript.spent)
    for stage in range(len(transcript.stages)):
        inference.add_down(transcript.parent, transcript.spent[:, stage], total[:, stage])
    mean = np.floor(total[transcript.is_leaf].mean(axis=0)).astype(np.int64)
    mean[-1] = units - mean[:-1].sum()
    epsilons = [to_epsilon(int(part)) for part in mean]
    return list(zip(transcript.stages, epsilons, strict=True))


DOUBLINGS = 0.625  # of the count, for each place, that make a tree one jump deeper


def order_of_places(shape: tuple[int, ...]) -> Ints:
    """The places in their order, then once more those that have two sides to be cut.

    A place of one row is so cut half as often as the others.

    >>> order_of_places((8, 8, 8, 8)).tolist(), order_of_places((8, 8, 1, 8)).tolist()
    ([0, 1, 0, 1], [0, 1, 0])
    """
    k = len(shape) // 2
    wide = [place for place in range(k) if min(shape[2 * place], shape[2 * place + 1]) > 1]
    return np.array([*range(k), *wide], dtype=np.int64)


def cuts_between(shape: Ints, turn: Ints, cuts: int, order: Ints) -> tuple[Ints, Ints]:
    """So many cuts of every node at once, places in turn, each time through the longer side.

    A place of one cell is passed over; where nothing is left to be cut there are fewer cuts. Of
    equal sides the columns are cut.

    Parameters
    ----------
    shape : (n, 2k) cells of the nodes along every axis
    turn : (n,) positions in ``order`` of the places to be cut next
    cuts : number of cuts
    order : see `order_of_places`

    Returns
    -------
    (n, 2k) parts along every axis, powers of two, and (n,) whose turn it is afterwards
    """
    parts = np.ones(shape.shape, dtype=np.int64)
    after = np.array(turn, dtype=np.int64)
    _take_turns(np.array(shape, dtype=np.int64), after, cuts, order, parts)
    return parts, after


def zone_parts(shape: tuple[int, ...], zones: int) -> Ints:
    """Parts along every axis of the first cut into zones, no more than there are cells."""
    return np.minimum(np.array(shape, dtype=np.int64), zones)


def portion(worth: Floats, jump: int, due: int, k: int, ratio: float) -> Floats:
    """Share of what nodes have left that goes to the draws `jump` cuts below, 0 to 1.

    The tree is expected to end K = 1 + log2(max(worth, 1)) / (DOUBLINGS k) jumps of k cuts below,
    not before the cuts that are due in public; shares of successive draws grow geometrically, so
    that the first of K' of them, of ratio rho, is (rho - 1) / (rho^K' - 1).

    Parameters
    ----------
    worth : (n,) count times budget of the nodes, in units of what is enough
    jump : cuts made at once
    due : cuts that are made in public
    k : number of places
    ratio : of the shares of draws separated by k cuts
    """
    levels = 1 + np.log2(np.maximum(worth, 1)) / (DOUBLINGS * k)
    levels = np.maximum(levels, due / k)
    terms = np.maximum(1.0, levels * k / jump)
    rho = ratio ** (jump / k)
    if rho == 1.0:
        return 1.0 / terms
    part: Floats = (rho - 1) / (rho**terms - 1)
    return part


@njit(cache=True, nogil=True)
def _take_turns(sides, turn, cuts, order, parts):  # type: ignore[no-untyped-def]
    for i in range(len(sides)):
        for _ in range(cuts):
            axis = -1
            for _ in range(len(order)):
                row = 2 * order[turn[i]]
                turn[i] = (turn[i] + 1) % len(order)
                longer = row if sides[i, row] > sides[i, row + 1] else row + 1
                if sides[i, longer] > 1:
                    axis = longer
                    break
            if axis < 0:
                break
            parts[i, axis] *= 2
            # The larger half: as long as one child can be cut, all are.
            sides[i, axis] = (sides[i, axis] + 1) // 2
