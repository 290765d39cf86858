"""Bugs planted into federated maps; the audit must find them all.

Bugs of a plan are planted into its own text: a line of the real function is written another way.
What spends too much has books that refuse nothing, as in `mutants`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import textwrap
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np

from explorer.errors import InputError
from explorer.federated import (
    adaptive_grid,
    asking,
    baselines,
    calibration,
    mechanism,
    people,
    refine,
    rounds,
    session,
    shards,
)
from explorer.federated.asking import Asking
from explorer.federated.audit import ALGORITHMS
from explorer.federated.mechanism import Federated
from explorer.federated.people import People
from explorer.federated.session import Session
from explorer.releases.quarters import KeyTree
from tests.audit.planting import Plant

ONCE, MENDED, PAPER = ("people",), ("mended",), ("paper",)
REFINING = ("people", "mended")
IN_TURN = ("mended", "paper")

SEEN: dict[str, Any] = {}
"""What a mutant knows of the last round: the people, their exact counts."""


@dataclass(frozen=True)
class Mutant:
    """A bug, where it can show, what is said of it, and in how many cases it must be found."""

    name: str
    plants: Sequence[Plant]
    algorithms: Sequence[str] = ALGORITHMS
    says: str = "loss"
    cases: int = 40


def text(module: Any, name: str, old: str, new: str) -> Plant:
    """A function whose text differs in one place, wherever it was imported to."""

    def plant() -> Any:
        right = getattr(module, name)
        source = textwrap.dedent(inspect.getsource(right))
        assert source.count(old) == 1, f"{name} has {old!r} {source.count(old)} times"
        known = {**vars(module), "SEEN": SEEN, "truth": truth, "occupied": occupied}
        known["in_box"] = in_box
        exec(compile(source.replace(old, new), f"<{name}, mutated>", "exec"), known)
        stack = ExitStack()
        for owner in (module, mechanism, rounds, asking):
            if getattr(owner, name, None) is right:
                stack.enter_context(patch.object(owner, name, known[name]))
        for key, value in baselines.BASELINES.items():
            if value is right:
                stack.enter_context(patch.dict(baselines.BASELINES, {key: known[name]}))
        return stack

    return plant


def truth(server: Session, tree: KeyTree) -> Any:
    """Exact counts of everybody in the open nodes of a tree."""
    everybody = people_of(server)
    question, number = server.question(tree), len(everybody)
    words = np.zeros(number, dtype=np.uint64)
    _, index, value = everybody.entries(np.arange(number), question.owner, question.counters, words)
    return np.bincount(index, weights=value, minlength=tree.v) / everybody.places


def occupied(server: Session, tree: KeyTree) -> int:
    return max(1, int(np.count_nonzero(truth(server, tree))))


def in_box(server: Session, lower: Any, upper: Any) -> float:
    """Exact count of a box of finest cells."""
    everybody = people_of(server)
    column, row = adaptive_grid.separate(everybody.cells)
    inside = (everybody.cells >= 0) & (row >= lower[0]) & (row < upper[0])
    return float(np.count_nonzero(inside & (column >= lower[1]) & (column < upper[1])))


def cell_of(everybody: People, members: Any) -> Any:
    """The first place of each, for mutants that look."""
    if everybody.offsets is None:
        return everybody.cells[members]
    at = np.minimum(everybody.offsets[members], len(everybody.cells) - 1)
    return everybody.cells[at]


def people_of(server: Session) -> People:
    return server.asking._Asking__people


def there(server: Session) -> int:
    return max(1, int(np.count_nonzero(people_of(server).cells >= 0)))


def watched(right, self, tree, number, units, fresh):
    """The exact counts of every round, as large as its sums, are in `SEEN`."""
    heard = right(self, tree, number, units, fresh)
    SEEN["y"] = truth(self, tree) * heard.answered / self.asking.number
    return heard


def loose_book(right, self, plan, fresh):
    """Books that write down whatever is spent."""
    units, self.units = self.units, 10**18
    try:
        right(self, plan, fresh)
    finally:
        self.units = units


def never_refused(right, *known):
    roll = right(*known)
    return dataclasses.replace(roll, kept=roll.survivors > 0)


def members(change: Callable[[Asking, Any], Any]) -> Plant:
    """Members of a round, changed by something that looks at places."""
    return Asking, "_members", lambda right, self, *asked: change(self, right(self, *asked).copy())


def _first_twice(_, who):
    who[-1] = who[0]
    return who


def _from_the_start(self, who):
    self._asked = 0
    return who


def _by_place(self, who):
    return who[np.argsort(cell_of(self._Asking__people, who), kind="stable")]


def _who_is_there(self, who):
    """People with a place before those without."""
    inside = cell_of(self._Asking__people, np.arange(len(self._Asking__people))) >= 0
    return np.argsort(~inside, kind="stable")[: len(who)]


def _seen_people(self, who):
    SEEN["people"] = self._Asking__people
    return who


def _shy(right, plan, who, there, words):
    return right(plan, who, there & (cell_of(SEEN["people"], who) != 0), words)


def counted_also(where: Callable[[Any, int], Any]) -> Plant:
    def doubled(right, self, who, owner, counters, words):
        position, index, value = right(self, who, owner, counters, words)
        pairs = (position, position), (index, where(index, counters)), (value, value)
        return tuple(np.concatenate(pair) for pair in pairs)

    return People, "entries", doubled


def greedy(right, self, question, number, units, fresh):
    """The last round takes the whole budget; the books are as they would be."""
    last = not fresh and self.asking.spent + units == self.asking.units
    sums = right(self, question, number, self.asking.units if last else units, fresh)
    return dataclasses.replace(sums, units=units)


def independent_rounding(_, visits, starts, places, words):
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    total = np.bincount(owner, weights=visits, minlength=len(starts) - 1)[owner]
    low, rest = np.divmod(places * visits, np.maximum(total, 1).astype(np.int64))
    rng = np.random.default_rng(int(words[0]) if len(words) else 0)
    return low + (rng.random(len(visits)) < rest / np.maximum(total, 1))


def one_more(right, visits, starts, places, words):
    """Values of a person of three places or more add up to S + 1."""
    value = right(visits, starts, places, words).copy()
    value[starts[:-1][np.diff(starts) >= 3]] += 1
    return value


def exact_tree(_, __, everybody, depth, **_how):
    tree = KeyTree.even(depth, 1)
    place = everybody.cells[everybody.cells >= 0] >> 2 * (everybody.depth - depth)
    return tree.split(np.flatnonzero(np.bincount(tree.index(place), minlength=tree.v) > 2))


def preview_cells(right, _, everybody, depth, **how):
    """The cells asked about are those of a preview of the same people, which is not paid for."""
    few = {"shard": 10_000, "dropped": 0.0, "corrupt": 0.0, "people": None, "mode": "summed"}
    seen = Federated(epsilon=4.0, c=1.0, algorithm="mended", depth=depth, **few)
    return right(seen.release(everybody, rng=1), everybody, depth, **how)


def drawn(change: Callable[[Session, dict[str, Any]], Any]) -> Plant:
    """What is said about a release, changed before it is drawn, or the release afterwards."""

    def changed(right, self, run, tree, once, about):
        about = dict(about)
        after = change(run, about)
        made = right(self, run, tree, once, about)
        if after is not None:
            object.__setattr__(made, "_session", run)
        return made

    return Federated, "_drawn", changed


def _fails(run, _):
    if there(run) % 7 == 0:
        raise InputError("Some people are nowhere.")


def keyed_by_data(right, self, everybody, *rest, **named):
    right(self, everybody, *rest, **named)
    self._key = hashlib.sha256(everybody.cells.tobytes()).digest()


def empty_at_zero(right, self, tree, *rest, **named):
    heard = right(self, tree, *rest, **named)
    return dataclasses.replace(heard, sums=np.where(truth(self, tree) > 0, heard.sums, 0.0))


def stale_counts(right, self, tree, *rest, **named):
    """Exact counts of the first tree, spread over every later one, are mixed with its sums."""
    heard = right(self, tree, *rest, **named)
    if SEEN.get("session") is not self:
        SEEN.update(session=self, tree=tree, counts=truth(self, tree))
        return heard
    kept = np.bincount(tree.table, SEEN["tree"].spread(SEEN["counts"]), tree.v)
    return dataclasses.replace(heard, sums=(heard.sums + kept) / 2)


def forget_question(right, self, *rest, **named):
    SEEN["question"] = None
    right(self, *rest, **named)


def sent_again(right, self, who, question):
    """People send what they sent to an earlier question once more."""
    made, old = right(self, who, question), SEEN["question"]
    SEEN["question"] = question
    if old is None or old is question:
        return made
    position, index, value = right(self, who, old)
    again = position, index % question.counters, value
    return tuple(np.concatenate(pair) for pair in zip(made, again, strict=True))


WATCHED = (Session, "ask", watched)
CARELESS = (Asking, "_book", loose_book)
GROWN = "occupied(server, finer) > 1.05 * occupied(server, response.tree)"
#: The table of the build note, section 5.
TABLE = (
    Mutant("fewer survivors not refused", [(shards.Roll, "of", never_refused)]),
    Mutant("shares for all, not for survivors", [
        (calibration, "honest", lambda _, size, _dropped, _corrupt: size)]),
    # Those who are declared and not there are not asked.
    Mutant("the exact number in place of the declared one", [
        (People, "padded", lambda _, self, _declared: self)], says="question|differs"),
    Mutant("asked twice in a round", [members(_first_twice)]),
    Mutant("asked in two rounds", [members(_from_the_start)], ONCE),
    Mutant("counted in the parent, too", [counted_also(lambda index, _: np.zeros_like(index))]),
    Mutant("two counts at sensitivity 1", [counted_also(lambda index, v: (index + 1) % v)]),
    Mutant("the last round takes all", [CARELESS, (Session, "sums", greedy)], IN_TURN),
    Mutant("independent rounding booked as S", [(people, "rounded", independent_rounding)], MENDED),
    Mutant("no noise on empty cells", [
        text(shards, "ideal", "total.add(sums)", "total.add(np.where(exact, sums, 0))")],
        says="differs"),
    Mutant("survivors depend on the place", [
        members(_seen_people), (shards.Roll, "of", _shy)], says="question"),
    Mutant("the budget of one round forgotten", [
        CARELESS, text(rounds, "scheduled", "remaining -= units",
                       "remaining -= units * (number > 1)")], IN_TURN, "loss|books"),
    Mutant("split by the true count", [
        WATCHED, text(rounds, "refined", "y = response.sums", "y = SEEN['y']")],
        REFINING, "differs"),
    Mutant("split by the true count, as printed", [
        WATCHED, text(rounds, "paper", "response.sums > t", "SEEN['y'] > t")], PAPER, "differs"),
    Mutant("collapse by the true count", [
        WATCHED, text(rounds, "paper", "response.sums < collapse * t", "SEEN['y'] < collapse * t")],
        PAPER, "differs"),
    Mutant("v counts occupied cells (people)", [
        text(rounds, "once", "fewest_people(tree.v,", "fewest_people(occupied(server, tree),")],
        ONCE, "differs"),
    Mutant("v counts occupied cells (epsilon)", [
        text(rounds, "scheduled", "(tree.v *", "(occupied(server, tree) *")], IN_TURN, "differs"),
    Mutant("stop by the true map (people)", [
        text(rounds, "once", "_grew(response, finer)", GROWN)], ONCE, "differs|asked"),
    Mutant("stop by the true map (epsilon)", [
        text(rounds, "scheduled", "_grew(response, finer, growth)", GROWN)],
        IN_TURN, "differs|asked"),
)  # fmt: skip
OTHERS = (
    # Erratum 43: n_min is that of survivors, not of honest ones.
    Mutant("shares of the corrupt count", [
        (calibration, "honest", lambda _, n, dropped, __: calibration.fewest(n, dropped))]),
    Mutant("H measured on true counts", [
        WATCHED, text(refine, "levels_down", "unevenness(tree, sums, sd)",
                      "unevenness(tree, SEEN['y'], sd)")], REFINING, "differs|asked"),
    Mutant("jumps by the true count", [
        WATCHED, text(refine, "levels_down", "else sums / part > sd",
                      "else SEEN['y'] / part > sd")],
        REFINING, "given the same sums"),
    Mutant("rounded to S + 1 places", [(people, "rounded", one_more)]),
    Mutant("counts of an earlier tree in a later one", [(Session, "ask", stale_counts)], REFINING,
           "given the same"),
    Mutant("vectors of an earlier tree sent again", [
        (Asking, "__init__", forget_question), (shards.Group, "entries", sent_again)],
        (*REFINING, "paper")),
    Mutant("shards sorted by place", [members(_by_place)], says="question"),
    Mutant("a sample of those who are there", [members(_who_is_there)], says="question"),
    Mutant("an earlier tree of exact counts", [(mechanism, "_earlier", exact_tree)], ONCE,
           "differs", 80),
    Mutant("the cells of a preview as prior", [(mechanism, "_earlier", preview_cells)], ONCE,
           "differs", 80),
    Mutant("the population is exact", [
        drawn(lambda run, about: about.update(population=there(run)))], says="published"),
    Mutant("who is inside, among the settings", [drawn(lambda run, about: about.update(
        parameters={**about["parameters"], "inside": there(run)}))], says="published"),
    Mutant("the session leaves with the release", [drawn(lambda run, _: run)], says="published"),
    Mutant("an error that depends on places", [drawn(_fails)], says="published|asked"),
    Mutant("empty cells told as overflow", [
        text(shards, "ideal", "total.add(sums)",
             "total.add(sums); total.overflow += int(np.sum(np.equal(exact, 0)))"),
        text(session, "figures", "sums.refused,", "sums.refused + sums.overflow,")],
        says="published"),
    Mutant("empty cells at zero", [(Session, "ask", empty_at_zero)], says="differs|asked"),
    Mutant("noise keyed by the data", [(Asking, "__init__", keyed_by_data)], says="noise"),
    Mutant("a grid divided by true counts", [
        text(adaptive_grid, "adaptive_grid", "max(float(coarse.sums[number]), 0.0)",
             "in_box(session, lower, upper)")], ("adaptive grid",), "differs"),
    Mutant("the level of the true map", [
        text(baselines, "hierarchical", "least(by_level, session.depth)",
             "by_level[occupied(session, KeyTree.even(session.depth, 2)) % session.depth]")],
        ("hierarchical",), "published"),
    Mutant("every level takes all", [
        CARELESS, text(baselines, "levels", "paid[-1] = session.units - sum(paid[:-1])",
                       "paid = [session.units] * len(paid)")], ("hierarchical", "decomposition")),
    Mutant("every row of a sketch takes all", [
        CARELESS, text(baselines, "_sketch", "left if row == ROWS - 1 else units // ROWS",
                       "units")],
        ("count-min",)),
)  # fmt: skip
