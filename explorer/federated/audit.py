"""The audit of federated maps: replay of whole releases on people one of whom has no places.

The door is that of `Asking`: every shard of a run is written down (`replay.Recorder`), and its sums
are forced on neighbours. Whatever is public must be the same: who is asked, shards, survivors,
numbers of a vector, shape of the noise, prices, and the release with all that can be reached from
it, also where one person of a declared number is not there at all. The loss over all shards, with
the shares of corrupt people taken off, is at most epsilon; so is what the books of the rounds show
for one person.

Given the sums, what is public depends on no place. So the sums are forced on no one's places, too:
a decision that reads exact counts then goes another way, however few neighbours would turn it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from explorer.errors import InputError
from explorer.federated.audit_cases import (
    ALGORITHMS,
    LARGE_SIDES,
    Case,
    draw_case,
    draw_large_case,
)
from explorer.federated.mechanism import Federated
from explorer.federated.people import People
from explorer.federated.replay import ROUNDING, Recorder, Replayer
from explorer.federated.shards import Hook
from explorer.privacy.audit import distributions
from explorer.privacy.audit.audit import Finding
from explorer.privacy.audit.cases import Seeded
from explorer.privacy.audit.loss import PER_EPSILON, Breach, budget
from explorer.privacy.audit.surface import difference, surface
from explorer.releases.distributed import ONCE, DistributedRelease
from explorer.releases.rounds import Heard

FILES_EVERY, LARGE_EVERY = 8, 4
"""Of so many cases, one compares files byte by byte, one is large."""
_NOISE = 2_000  # numbers of a case whose noise is tested


def replay_cases(
    numbers: Iterable[int], seed: int = 0, algorithms: Sequence[str] = ALGORITHMS
) -> Finding:
    """Replay cases of federated maps until one fails.

    Parameters
    ----------
    numbers : which cases; every one has `cases.NEIGHBOURS` pairs
    seed : names the cases: the same seed and number are the same case
    algorithms : from which each case takes one
    """
    begin, rng = time.perf_counter(), np.random.default_rng(seed)
    finding = Finding(Federated.key)
    for number in numbers:
        saved = number % FILES_EVERY == FILES_EVERY - 1
        choose = Seeded(f"{seed}/{Federated.key}/{number}")
        try:
            if number % LARGE_EVERY == LARGE_EVERY - 2 and algorithms is ALGORITHMS:
                case = draw_large_case(choose, number // LARGE_EVERY)
            else:
                case = draw_case(choose, decided, algorithms)
            finding += try_case(case, rng, saved)
        except Breach as breach:
            # Of a run that looks for where decisions turn.
            finding += Finding(Federated.key, 1, fault=str(breach))
        if finding.fault is not None:
            finding = replace(finding, fault=f"case {number} of seed {seed}: {finding.fault}")
            break
    return replace(finding, seconds=time.perf_counter() - begin)


def try_case(case: Case, rng: np.random.Generator | None = None, saved: bool = False) -> Finding:
    """Replay a case on all its neighbours.

    Parameters
    ----------
    rng : fills in the steps of distribution functions, where the noise is to be tested
    saved : whether files are compared, too
    """
    units, tried, largest, person = budget(case.settings["epsilon"]), 0, 0.0, -1
    recorder, fault = Recorder(case.style), None
    try:
        public = published(case, case.people, recorder, saved)
        leak = _who_tells(case, recorder, public[:2])
        if leak is not None:
            person = leak[0]
            raise Breach(f"given the same sums, {leak[1]}")
        for tried, person in enumerate(_neighbours(case, recorder), 1):  # noqa: B007  told when it fails
            replayer = Replayer(recorder, case.settings["corrupt"])
            other = published(case, case.without(person), replayer, saved)
            where = difference(public, other, "what is published")
            if where is not None:
                raise Breach(f"{where} differs")
            replayer.finish()
            loss = abs(replayer.loss) * PER_EPSILON / units
            largest = max(largest, loss)
            if loss > 1.0 + ROUNDING:
                raise Breach(f"the loss is {loss:.6g} times epsilon")
        _check_books(public[0], units)
    except Breach as breach:
        fault = f"{breach} ({case.describe(person)})"
    uniforms = np.zeros(0) if rng is None else _uniforms(recorder, rng)
    pairs, cells = max(tried, 1), int(np.prod(case.people.grid.shape))
    call = max((shard.counters for shard in recorder.shards), default=0)
    sizes = pairs if cells >= LARGE_SIDES[0] ** 2 else 0, 1, cells, call
    return Finding(Federated.key, pairs, 0.0, largest, uniforms, fault, *sizes)


def published(case: Case, people: People, record: Hook, saved: bool = False) -> tuple[Any, ...]:
    """All that is public of a run: the release, how it is written, its rounds, files, progress.

    A run in which nothing can be released says so; that, too, is public.

    Raises
    ------
    Breach
        Of the hook, or if the run fails in any other way, which all can see.
    """
    progress_values: list[float] = []
    try:
        release = case.mechanism.release(
            people,
            rng=case.rng,
            progress=progress_values.append,
            prior=case.prior,
            record=record,
            people_are_public=not case.declared,
        )
    except InputError as error:
        return None, str(error)
    except Breach:
        raise
    except Exception as error:
        raise Breach(f"the run fails: {type(error).__name__}: {error}") from error
    snapshot = surface(release, True) if saved else None
    contents = {} if snapshot is None else {"said": snapshot.said, "files": snapshot.files}
    return release, repr(release), release.rounds.to_csv(), contents, tuple(progress_values)


def _who_tells(case: Case, recorder: Recorder, public: tuple[Any, ...]) -> tuple[int, str] | None:
    """Someone whose place shows in what is public though all sums are the same, and in what.

    The sums are forced on people of whom the first k have places. If no one's places give
    something else than all, there is a k where one person more turns it: two neighbours.
    """

    def told(number: int) -> str | None:
        replayer = Replayer(recorder, neighbours=False)
        try:
            other = published(case, case.people.first(number), replayer)
            replayer.finish()
        except Breach as breach:
            return str(breach)
        where = difference(public, other[:2], "what is published")
        return None if where is None else f"{where} differs"

    where = told(0)
    if where is None:
        return None
    few, many = 0, len(case.people)
    while many - few > 1:
        middle = (few + many) // 2
        here = told(middle)
        few, many, where = (few, middle, where) if here is None else (middle, many, here)
    return few, where


def decided(case: Case) -> Any:
    """What a run of a case decides: its rounds and trees; an odd seed looks at their number."""
    release, text, *_ = published(case, case.people, Recorder(case.style))
    if release is None:
        return text
    if case.seed % 2:
        return len(release.heard)
    trees = [row.tree.keys.tobytes() for row in release.heard if isinstance(row, Heard)]
    figures = [(row.cells, row.people, row.units) for row in release.heard]
    return trees, figures, release.tree.lower.tobytes()


def _neighbours(case: Case, recorder: Recorder) -> tuple[int, ...]:
    """The persons of a case, the last of them being anyone who is heard most often."""
    respondents = [
        shard.members[shard.there] for shard in recorder.shards if shard.exact is not None
    ]
    if not respondents:
        return case.persons
    often = np.bincount(np.concatenate(respondents), minlength=len(case.people))
    return (*case.persons[:-1], int(often.argmax()))


def _check_books(release: DistributedRelease | None, units: int) -> None:
    """What rounds cost the person who pays most, as the release shows it, is epsilon."""
    if release is None:
        return
    paid = [row.units for row in release.heard]
    dearest = max(paid) if release.paying == ONCE else sum(paid)
    if dearest != units or release.units != units:
        raise Breach(f"the books show {dearest} of {units} units spent")


def _uniforms(recorder: Recorder, rng: np.random.Generator) -> Any:
    """Noise of shards with exactly as many survivors as it is made for, as uniform numbers."""
    noise, decay = [], []
    for shard, drawn in zip(recorder.shards, recorder.noise, strict=True):
        if drawn is not None and shard.shape == 1.0:
            rate = shard.units / (PER_EPSILON * shard.sensitivity)
            noise.append(drawn[:_NOISE])
            decay.append(np.full(len(noise[-1]), rate))
    if not noise:
        return np.zeros(0)
    uniforms = distributions.uniforms(np.concatenate(noise), np.concatenate(decay), rng)
    return uniforms[:_NOISE]
