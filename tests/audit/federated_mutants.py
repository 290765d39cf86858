"""Bugs planted into federated maps, one function each; the audit must find them all.

Bugs of a plan are planted into its own text: a line of the real function is written another way.
What spends too much has books that do not look, as in `mutants`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

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
from explorer.federated.audit_cases import ALGORITHMS
from explorer.federated.mechanism import Federated
from explorer.federated.people import People
from explorer.federated.session import Session
from explorer.releases.quarters import KeyTree

Plant = Callable[[pytest.MonkeyPatch], None]

ONCE, MENDED, PAPER = ("people",), ("mended",), ("paper",)
REFINING = ("people", "mended")
IN_TURN = ("mended", "paper")

SEEN: dict[str, Any] = {}
"""What a mutant knows of the last round: the people, their exact counts."""


def exact_number(patch: pytest.MonkeyPatch) -> None:
    """Those who are declared and not there are not asked."""
    patch.setattr(People, "padded", lambda self, _declared: self)


@dataclass(frozen=True)
class Mutant:
    """A bug, where it can show, in how many cases it must be found, and what is said of it."""

    name: str
    plant: Plant
    algorithms: Sequence[str] = ALGORITHMS
    says: str = "loss"
    cases: int = 40


def rewritten(
    patch: pytest.MonkeyPatch, module: Any, name: str, *lines: tuple[str, str]
) -> Callable[..., Any]:
    """Plant a function whose text differs in some places, each of which must be there once."""
    source = textwrap.dedent(inspect.getsource(getattr(module, name)))
    for old, new in lines:
        assert source.count(old) == 1, f"{name} has {old!r} {source.count(old)} times"
        source = source.replace(old, new)
    known = {**vars(module), "SEEN": SEEN, "truth": truth, "occupied": occupied, "in_box": in_box}
    exec(compile(source, f"<{name}, mutated>", "exec"), known)
    patch.setattr(module, name, known[name])
    return known[name]


def truth(server: Session, tree: KeyTree) -> Any:
    """Exact counts of everybody in the open nodes of a tree."""
    everybody = server.asking._Asking__people
    question, number = server.question(tree), len(everybody)
    words = np.zeros(number, dtype=np.uint64)
    _, index, value = everybody.entries(np.arange(number), question.owner, question.counters, words)
    return np.bincount(index, weights=value, minlength=tree.v) / everybody.places


def occupied(server: Session, tree: KeyTree) -> int:
    return max(1, int(np.count_nonzero(truth(server, tree))))


def in_box(server: Session, lower: Any, upper: Any) -> float:
    """Exact count of a box of finest cells."""
    everybody = server.asking._Asking__people
    column, row = adaptive_grid.separate(everybody.cells)
    inside = (everybody.cells >= 0) & (row >= lower[0]) & (row < upper[0])
    return float(np.count_nonzero(inside & (column >= lower[1]) & (column < upper[1])))


def cell_of(everybody: People, members: Any) -> Any:
    """The first place of each, for mutants that look."""
    if everybody.offsets is None:
        return everybody.cells[members]
    at = np.minimum(everybody.offsets[members], len(everybody.cells) - 1)
    return everybody.cells[at]


def watching(patch: pytest.MonkeyPatch) -> None:
    """From now on the exact counts of every round, as large as its sums, are in `SEEN`."""
    ask = Session.ask

    def asked(self: Session, tree: KeyTree, number: int, units: int, fresh: bool) -> Any:
        heard = ask(self, tree, number, units, fresh)
        SEEN["y"] = truth(self, tree) * heard.answered / self.asking.number
        return heard

    patch.setattr(Session, "ask", asked)


def careless(patch: pytest.MonkeyPatch) -> None:
    """Books that write down whatever is spent."""
    book = Asking._book

    def loose(self: Asking, plan: Any, fresh: bool) -> None:
        units, self.units = self.units, 10**18
        try:
            book(self, plan, fresh)
        finally:
            self.units = units

    patch.setattr(Asking, "_book", loose)


def in_text(
    module: Any, name: str, *lines: tuple[str, str], before: Sequence[Plant] = (), key: str = ""
) -> Plant:
    """A mutant of a function's text; `key` names a baseline."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        for each in before:
            each(patch)
        made = rewritten(patch, module, name, *lines)
        if module is rounds and hasattr(mechanism, name):
            patch.setattr(mechanism, name, made)
        if module is refine and hasattr(rounds, name):
            patch.setattr(rounds, name, made)
        if module is shards and hasattr(asking, name):
            patch.setattr(asking, name, made)
        if key:
            patch.setitem(baselines.BASELINES, key, made)

    return plant


def never_refused(patch: pytest.MonkeyPatch) -> None:
    of = shards.Roll.of

    def kept(*known: Any) -> shards.Roll:
        roll = of(*known)
        return dataclasses.replace(roll, kept=roll.survivors > 0)

    patch.setattr(shards.Roll, "of", kept)


def shares_for_all(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(calibration, "honest", lambda size, _dropped, _corrupt: size)


def shares_of_the_corrupt_count(patch: pytest.MonkeyPatch) -> None:
    """Erratum 43: n_min is that of survivors, not of honest ones."""
    patch.setattr(calibration, "honest", lambda n, dropped, _: calibration.fewest(n, dropped))


def chosen(change: Callable[[Asking, Any, bool], Any]) -> Plant:
    """Members of a round, changed by something that looks at places."""
    members = Asking._members

    def plant(patch: pytest.MonkeyPatch) -> None:
        def changed(self: Asking, number: int, fresh: bool) -> Any:
            return change(self, members(self, number, fresh).copy(), fresh)

        patch.setattr(Asking, "_members", changed)

    return plant


def _first_twice(_: Asking, who: Any, __: bool) -> Any:
    who[-1] = who[0]
    return who


def _from_the_start(self: Asking, who: Any, _: bool) -> Any:
    self._asked = 0
    return who


def _by_place(self: Asking, who: Any, _: bool) -> Any:
    return who[np.argsort(cell_of(self._Asking__people, who), kind="stable")]


def _who_is_there(self: Asking, who: Any, _: bool) -> Any:
    """People with a place before those without."""
    everyone = np.arange(len(self._Asking__people))
    there = cell_of(self._Asking__people, everyone) >= 0
    return np.argsort(~there, kind="stable")[: len(who)]


def counted_also(where: Callable[[Any, int], Any]) -> Plant:
    entries = People.entries

    def plant(patch: pytest.MonkeyPatch) -> None:
        def doubled(self: People, who: Any, owner: Any, counters: int, words: Any) -> Any:
            position, index, value = entries(self, who, owner, counters, words)
            other = where(index, counters)
            pairs = (position, position), (index, other), (value, value)
            return tuple(np.concatenate(pair) for pair in pairs)

        patch.setattr(People, "entries", doubled)

    return plant


def last_takes_all(patch: pytest.MonkeyPatch) -> None:
    careless(patch)
    ask = Session.sums

    def greedy(self: Session, question: Any, number: int, units: int, fresh: bool) -> Any:
        last = not fresh and self.asking.spent + units == self.asking.units
        sums = ask(self, question, number, self.asking.units if last else units, fresh)
        # Books as they would be.
        return dataclasses.replace(sums, units=units)

    patch.setattr(Session, "sums", greedy)


def independent_rounding(patch: pytest.MonkeyPatch) -> None:
    def independent(visits: Any, starts: Any, places: int, words: Any) -> Any:
        owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        total = np.bincount(owner, weights=visits, minlength=len(starts) - 1)[owner]
        low, rest = np.divmod(places * visits, np.maximum(total, 1).astype(np.int64))
        rng = np.random.default_rng(int(words[0]) if len(words) else 0)
        return low + (rng.random(len(visits)) < rest / np.maximum(total, 1))

    patch.setattr(people, "rounded", independent)


def survivors_by_place(patch: pytest.MonkeyPatch) -> None:
    of, members = shards.Roll.of, Asking._members

    def watched(self: Asking, number: int, fresh: bool) -> Any:
        SEEN["people"] = self._Asking__people
        return members(self, number, fresh)

    def shy(plan: Any, who: Any, there: Any, words: Any) -> Any:
        return of(plan, who, there & (cell_of(SEEN["people"], who) != 0), words)

    patch.setattr(Asking, "_members", watched)
    patch.setattr(shards.Roll, "of", shy)


def exact_tree(patch: pytest.MonkeyPatch) -> None:
    def peeking(_: Any, everybody: People, depth: int, **_how: bool) -> KeyTree:
        tree = KeyTree.even(depth, 1)
        place = everybody.cells[everybody.cells >= 0] >> 2 * (everybody.depth - depth)
        number = np.bincount(tree.index(place), minlength=tree.v)
        return tree.split(np.flatnonzero(number > 2))

    patch.setattr(mechanism, "_earlier", peeking)


def preview_cells(patch: pytest.MonkeyPatch) -> None:
    """The cells asked about are those of a preview of the same people, which nobody paid for."""
    earlier = mechanism._earlier

    def peeking(_: Any, everybody: People, depth: int, **how: bool) -> KeyTree:
        few = {"shard": 10_000, "dropped": 0.0, "corrupt": 0.0, "people": None, "mode": "summed"}
        seen = Federated(epsilon=4.0, c=1.0, algorithm="mended", depth=depth, **few)
        return earlier(seen.release(everybody, rng=1), everybody, depth, **how)

    patch.setattr(mechanism, "_earlier", peeking)


def drawn(change: Callable[[Any, Session, dict[str, Any]], Any]) -> Plant:
    """What is said about a release, changed before it is drawn, or the release afterwards."""
    draw = Federated._drawn

    def plant(patch: pytest.MonkeyPatch) -> None:
        def changed(self: Federated, run: Session, tree: Any, once: bool, about: Any) -> Any:
            about = dict(about)
            before = change(None, run, about)
            made = draw(self, run, tree, once, about)
            return made if before is None else before(made)

        patch.setattr(Federated, "_drawn", changed)

    return plant


def _there(run: Session) -> int:
    everybody = run.asking._Asking__people
    return max(1, int(np.count_nonzero(everybody.cells >= 0)))


def _exact_population(_: Any, run: Session, about: dict[str, Any]) -> None:
    about["population"] = _there(run)


def _in_settings(_: Any, run: Session, about: dict[str, Any]) -> None:
    about["parameters"] = {**about["parameters"], "inside": _there(run)}


def _session_kept(_: Any, run: Session, __: Any) -> Any:
    def keep(made: Any) -> Any:
        object.__setattr__(made, "_session", run)
        return made

    return keep


def _fails(_: Any, run: Session, __: Any) -> None:
    if _there(run) % 7 == 0:
        raise InputError("Some people are nowhere.")


def noise_of_the_data(patch: pytest.MonkeyPatch) -> None:
    begin = Asking.__init__

    def keyed(self: Asking, everybody: People, *rest: Any, **named: Any) -> None:
        begin(self, everybody, *rest, **named)
        self._key = hashlib.sha256(everybody.cells.tobytes()).digest()

    patch.setattr(Asking, "__init__", keyed)


def empty_at_zero(patch: pytest.MonkeyPatch) -> None:
    ask = Session.ask

    def asked(self: Session, tree: KeyTree, *rest: Any, **named: Any) -> Any:
        heard = ask(self, tree, *rest, **named)
        there = truth(self, tree) > 0
        return dataclasses.replace(heard, sums=np.where(there, heard.sums, 0.0))

    patch.setattr(Session, "ask", asked)


def stale_counts(patch: pytest.MonkeyPatch) -> None:
    """Exact counts of the first tree, spread over every later one, are mixed with its sums."""
    ask = Session.ask

    def asked(self: Session, tree: KeyTree, *rest: Any, **named: Any) -> Any:
        heard = ask(self, tree, *rest, **named)
        if SEEN.get("session") is not self:
            SEEN.update(session=self, tree=tree, counts=truth(self, tree))
            return heard
        kept = np.bincount(tree.table, SEEN["tree"].spread(SEEN["counts"]), tree.v)
        return dataclasses.replace(heard, sums=(heard.sums + kept) / 2)

    patch.setattr(Session, "ask", asked)


def stale_vectors(patch: pytest.MonkeyPatch) -> None:
    """People send what they sent to an earlier question once more."""
    begin, entries = Asking.__init__, shards.Group.entries

    def started(self: Asking, *rest: Any, **named: Any) -> None:
        SEEN["question"] = None
        begin(self, *rest, **named)

    def sent(self: Any, who: People, question: Any) -> Any:
        made, old = entries(self, who, question), SEEN["question"]
        SEEN["question"] = question
        if old is None or old is question:
            return made
        position, index, value = entries(self, who, old)
        again = position, index % question.counters, value
        return tuple(np.concatenate(pair) for pair in zip(made, again, strict=True))

    patch.setattr(Asking, "__init__", started)
    patch.setattr(shards.Group, "entries", sent)


def one_more(patch: pytest.MonkeyPatch) -> None:
    """Values of a person of three places or more add up to S + 1."""
    rounded = people.rounded

    def generous(visits: Any, starts: Any, places: int, words: Any) -> Any:
        value = rounded(visits, starts, places, words).copy()
        value[starts[:-1][np.diff(starts) >= 3]] += 1
        return value

    patch.setattr(people, "rounded", generous)


def empty_cells_told(patch: pytest.MonkeyPatch) -> None:
    rewritten_ideal(patch)
    rewritten(patch, session, "figures", ("sums.refused,", "sums.refused + sums.overflow,"))


rewritten_ideal = in_text(
    shards,
    "ideal",
    ("total.add(sums)", "total.add(sums); total.overflow += int(np.sum(np.equal(exact, 0)))"),
)

TABLE = (
    Mutant("fewer survivors not refused", never_refused),
    Mutant("shares for all, not for survivors", shares_for_all),
    Mutant("the exact number in place of the declared one", exact_number, says="question|differs"),
    Mutant("asked twice in a round", chosen(_first_twice)),
    Mutant("asked in two rounds", chosen(_from_the_start), ONCE),
    Mutant("counted in the parent, too", counted_also(lambda index, _: np.zeros_like(index))),
    Mutant("two counts at sensitivity 1", counted_also(lambda index, v: (index + 1) % v)),
    Mutant("the last round takes all", last_takes_all, IN_TURN),
    Mutant("independent rounding booked as S", independent_rounding, MENDED),
    Mutant(
        "no noise on empty cells",
        in_text(shards, "ideal", ("total.add(sums)", "total.add(np.where(exact, sums, 0))")),
        says="differs",
    ),
    Mutant("survivors depend on the place", survivors_by_place, says="question"),
    Mutant(
        "the budget of one round forgotten",
        in_text(
            rounds,
            "scheduled",
            ("remaining -= units", "remaining -= units * (number > 1)"),
            before=[careless],
        ),
        IN_TURN,
        "loss|books",
    ),
    Mutant(
        "split by the true count",
        in_text(rounds, "refined", ("y = heard.sums", "y = SEEN['y']"), before=[watching]),
        REFINING,
        "differs",
    ),
    Mutant(
        "split by the true count, as printed",
        in_text(rounds, "paper", ("heard.sums > t", "SEEN['y'] > t"), before=[watching]),
        PAPER,
        "differs",
    ),
    Mutant(
        "collapse by the true count",
        in_text(
            rounds,
            "paper",
            ("heard.sums < collapse * t", "SEEN['y'] < collapse * t"),
            before=[watching],
        ),
        PAPER,
        "differs",
    ),
    Mutant(
        "v counts occupied cells (people)",
        in_text(rounds, "once", ("fewest_people(tree.v,", "fewest_people(occupied(server, tree),")),
        ONCE,
        "differs",
    ),
    Mutant(
        "v counts occupied cells (epsilon)",
        in_text(rounds, "scheduled", ("(tree.v *", "(occupied(server, tree) *")),
        IN_TURN,
        "differs",
    ),
    Mutant(
        "stop by the true map (people)",
        in_text(
            rounds,
            "once",
            (
                "_grew(heard, finer)",
                "occupied(server, finer) > 1.05 * occupied(server, heard.tree)",
            ),
        ),
        ONCE,
        "differs|asked",
    ),
    Mutant(
        "stop by the true map (epsilon)",
        in_text(
            rounds,
            "scheduled",
            (
                "_grew(heard, finer, growth)",
                "occupied(server, finer) > 1.05 * occupied(server, heard.tree)",
            ),
        ),
        IN_TURN,
        "differs|asked",
    ),
)
"""The table of the build note, section 5."""

OTHERS = (
    Mutant("shares of the corrupt count", shares_of_the_corrupt_count),
    Mutant(
        "H measured on true counts",
        in_text(
            refine,
            "levels_down",
            ("unevenness(tree, sums, sd)", "unevenness(tree, SEEN['y'], sd)"),
            before=[watching],
        ),
        REFINING,
        "differs|asked",
    ),
    Mutant(
        "jumps by the true count",
        in_text(
            refine,
            "levels_down",
            ("else sums / part > sd", "else SEEN['y'] / part > sd"),
            before=[watching],
        ),
        REFINING,
        "given the same sums",
    ),
    Mutant("rounded to S + 1 places", one_more),
    Mutant("counts of an earlier tree in a later one", stale_counts, REFINING, "given the same"),
    Mutant("vectors of an earlier tree sent again", stale_vectors, (*REFINING, "paper")),
    Mutant("shards sorted by place", chosen(_by_place), says="question"),
    Mutant("a sample of those who are there", chosen(_who_is_there), says="question"),
    Mutant("an earlier tree of exact counts", exact_tree, ONCE, "differs", 80),
    Mutant("the cells of a preview as prior", preview_cells, ONCE, "differs", 80),
    Mutant("the population is exact", drawn(_exact_population), says="published"),
    Mutant("who is inside, among the settings", drawn(_in_settings), says="published"),
    Mutant("the session leaves with the release", drawn(_session_kept), says="published"),
    Mutant("an error that depends on places", drawn(_fails), says="published|asked"),
    Mutant("empty cells told as overflow", empty_cells_told, says="published"),
    Mutant("empty cells at zero", empty_at_zero, says="differs|asked"),
    Mutant("noise keyed by the data", noise_of_the_data, says="noise"),
    Mutant(
        "a grid divided by true counts",
        in_text(
            adaptive_grid,
            "adaptive_grid",
            ("max(float(coarse.sums[number]), 0.0)", "in_box(session, lower, upper)"),
            key="adaptive grid",
        ),
        ("adaptive grid",),
        "differs",
    ),
    Mutant(
        "the level of the true map",
        in_text(
            baselines,
            "hierarchical",
            (
                "least(found, session.depth)",
                "found[occupied(session, KeyTree.even(session.depth, 2)) % session.depth]",
            ),
            key="hierarchical",
        ),
        ("hierarchical",),
        "published",
    ),
    Mutant(
        "every level takes all",
        in_text(
            baselines,
            "levels",
            (
                "paid[-1] = session.units - sum(paid[:-1])",
                "paid = [session.units] * len(paid)",
            ),
            before=[careless],
        ),
        ("hierarchical", "decomposition"),
    ),
    Mutant(
        "every row of a sketch takes all",
        in_text(
            baselines,
            "_sketch",
            ("left if row == ROWS - 1 else units // ROWS", "units"),
            before=[careless],
        ),
        ("count-min",),
    ),
)
"""Of our own."""
