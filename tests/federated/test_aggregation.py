"""Secure aggregation: the sum and nothing else, whoever drops out when."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from explorer.federated import aggregation, shamir
from explorer.federated.aggregation import (
    ANSWERS,
    GONE,
    KEYS,
    SHARES,
    VECTOR,
    Distrust,
    Person,
    Refused,
    Vectors,
    Wires,
    aggregate,
    agree,
    harary,
    mask,
    mask_key,
    word_of,
)
from explorer.federated.protocol import Protocol, Round
from explorer.federated.shares import Stream, new_key

#: Half of the people stay, the others leave after any message.
MOSTLY_THERE = st.sampled_from([GONE, KEYS, SHARES, VECTOR, *[ANSWERS] * 4])


def plan_of(size: int, counters: int, bits: int, degree: int, threshold: int, fewest: int) -> Round:
    made = Protocol(shard=size, dropped=0.0, corrupt=0.0).round(size, 10**12, counters)
    return dataclasses.replace(made, bits=bits, degree=degree, threshold=threshold, fewest=fewest)


def drawn(rng: np.random.Generator, size: int, counters: int, number: int) -> Vectors:
    return Vectors(
        rng.integers(0, size, number),
        rng.integers(0, counters, number),
        rng.integers(-(2**40), 2**40, number),
    )


def plain(parts: list[Vectors], survivors: np.ndarray, counters: int, bits: int) -> np.ndarray:
    total = np.zeros(counters, dtype=np.int64)
    for part in parts:
        kept = np.isin(part.person, survivors)
        np.add.at(total, part.index[kept], part.value[kept])
    return total & ((1 << bits) - 1)


@settings(max_examples=60)
@given(st.data())
def test_the_sum_is_plain_under_drops_in_every_phase(data: st.DataObject) -> None:
    size = data.draw(st.integers(3, 10), "people")
    degree = data.draw(st.sampled_from([*range(2, size, 2), size - 1]), "degree")
    bits = data.draw(st.sampled_from([1, 8, 16, 17, 32, 40, 62]), "bits")
    counters = data.draw(st.sampled_from([1, 5, 70]), "counters")
    threshold = data.draw(st.integers(1, max(1, degree // 2)), "threshold")
    last = np.array(data.draw(st.lists(MOSTLY_THERE, min_size=size, max_size=size)))
    seed = data.draw(st.integers(0, 2**32), "seed")
    plan = plan_of(size, counters, bits, degree, threshold, 1)
    rng = np.random.default_rng(seed)
    parts = [drawn(rng, size, counters, 4 * size) for _ in range(2)]
    random = Stream(new_key(seed)).bytes
    survivors = np.flatnonzero(last >= VECTOR)
    try:
        made = aggregate(plan, *parts, last, rng.permutation(size), random)
        event("a sum")
    except Refused:
        event("refused")
        # With everybody there and answering there is a sum.
        assert np.any(last < ANSWERS)
        return
    assert np.array_equal(made.survivors, survivors)
    assert np.array_equal(made.total, plain(parts, survivors, counters, bits))
    # Of everybody one secret at the most: her own mask's if her vector arrived, else the other.
    shared = np.flatnonzero(last >= SHARES)
    for person, kind in made.revealed.items():
        assert kind == ("self" if last[person] >= VECTOR else "mask")
        assert person in shared


def test_columns_go_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    plan = plan_of(9, 333, 20, 8, 2, 5)
    parts = [drawn(rng, 9, 333, 500) for _ in range(2)]
    last = np.array([ANSWERS] * 6 + [KEYS, SHARES, VECTOR])
    ring = rng.permutation(9)
    whole = aggregate(plan, *parts, last, ring, os.urandom, watched=2)
    monkeypatch.setattr(aggregation, "BLOCK_BYTES", 9 * 64)
    blocks = aggregate(plan, *parts, last, ring, os.urandom, watched=2)
    assert np.array_equal(whole.total, blocks.total)
    assert np.array_equal(blocks.total, plain(parts, np.array([*range(6), 8]), 333, 20))
    assert blocks.seen is not None
    # The masks are new each time, and hide the vector.
    assert whole.seen is not None
    assert np.mean(whole.seen.masked == blocks.seen.masked) < 0.05


def test_what_the_server_sees_of_one_person() -> None:
    plan = plan_of(30, 2000, 12, 6, 3, 20)
    rng = np.random.default_rng(6)
    counts = Vectors(np.arange(30), rng.integers(0, 2000, 30), np.ones(30, dtype=np.int64))
    noise = drawn(rng, 30, 2000, 40)
    last = np.full(30, ANSWERS)
    last[[3, 4]] = SHARES
    made = aggregate(plan, counts, noise, last, rng.permutation(30), os.urandom, watched=7)
    seen = made.seen
    assert seen is not None
    assert seen.vector.sum() == 1
    assert seen.vector[counts.index[7]] == 1
    assert np.array_equal(seen.share, noise.dense(7, 2000))
    assert np.array_equal(seen.total, plain([counts, noise], made.survivors, 2000, 12))
    for masked in (seen.masked, seen.masked_sum):
        # Uniform modulo 2^b: mean of 2000 numbers of variance (2^b)^2 / 12.
        assert 0 <= masked.min() <= masked.max() < 2**12
        assert abs(masked.mean() - 2047.5) < 5 * 4096 / np.sqrt(12 * 2000)
        assert not np.array_equal(masked, seen.total)


@pytest.mark.parametrize(
    ("last", "enough", "one_more", "says"),
    [
        ([SHARES] * 3 + [ANSWERS] * 7, (2, 7), (2, 8), "7 vectors arrived, 8 are needed"),
        # Of the five who answer each has four neighbours among them, the others five.
        (
            [ANSWERS] * 5 + [VECTOR] * 3,
            (4, 5),
            (5, 5),
            "4 neighbours of a person answered, 5 are needed",
        ),
    ],
    ids=["survivors that the noise needs", "answers that rebuild"],
)
def test_refused_with_one_fewer_than_are_needed(
    last: list[int], enough: tuple[int, int], one_more: tuple[int, int], says: str
) -> None:
    """Everybody is a neighbour; threshold and fewest survivors, met and then one more."""
    size, rng = len(last), np.random.default_rng(0)
    known = [drawn(rng, size, 4, 20) for _ in range(2)], np.array(last), rng.permutation(size)
    made = summed_up(enough, *known)
    there = np.flatnonzero(known[1] >= VECTOR)
    assert np.array_equal(made.survivors, there)
    assert np.array_equal(made.total, plain(known[0], there, 4, 10))
    with pytest.raises(Refused, match=says):
        summed_up(one_more, *known)


def summed_up(
    least: tuple[int, int], parts: list[Vectors], last: np.ndarray, ring: np.ndarray
) -> aggregation.Aggregate:
    plan = plan_of(len(last), 4, 10, len(last) - 1, *least)
    return aggregate(plan, *parts, last, ring, os.urandom)


def three(random: Callable[[int], bytes] = os.urandom) -> tuple[list[Person], Wires]:
    people, wires = [Person(i, random) for i in range(3)], Wires()
    boxes: list[dict[int, bytes]] = [{}, {}, {}]
    for person in people:
        others = {other.number: other.public for other in people if other is not person}
        for j, box in person.shares(others, 2, random, wires).items():
            boxes[j][person.number] = box
    for person, received in zip(people, boxes, strict=True):
        person.receive(received, wires)
    return people, wires


def test_a_person_gives_one_secret_of_each_neighbour_and_only_once() -> None:
    people, _ = three()
    answer = people[0].answer({0, 1}, 2)
    assert {j: kind for j, (kind, _) in answer.items()} == {1: "self", 2: "mask"}
    # Another list of survivors would get the other secret of both.
    with pytest.raises(Distrust):
        people[0].answer({0, 2}, 2)
    # Too few, or a list that does not know her vector.
    for survivors in ({1}, {0, 2}):
        with pytest.raises(Distrust):
            people[1].answer(survivors, 2)


def test_both_ends_of_an_edge_agree_and_boxes_stay_shut() -> None:
    one, two = (Person(i, os.urandom) for i in range(2))
    for kind in ("box", "mask"):
        ends = [
            agree(kind, own, other)
            for own, other in (
                (getattr(one, f"_{kind}_key"), getattr(two.public, kind)),
                (getattr(two, f"_{kind}_key"), getattr(one.public, kind)),
            )
        ]
        assert ends[0] == ends[1]
    # The key for masks, which the server may rebuild, opens no box.
    rebuilt = mask_key(one._mask_seed)
    assert agree("box", rebuilt, two.public.box) != agree("box", one._box_key, two.public.box)
    assert rebuilt.public_key() == one.public.mask


def test_a_changed_box_is_noticed() -> None:
    from cryptography.exceptions import InvalidTag

    people, wires = [Person(i, os.urandom) for i in range(2)], Wires()
    boxes = people[0].shares({1: people[1].public}, 1, os.urandom, wires)
    people[1].shares({0: people[0].public}, 1, os.urandom, wires)
    assert len(boxes[1]) == 50
    with pytest.raises(InvalidTag):
        people[1].receive({0: boxes[1][:-1] + bytes([boxes[1][-1] ^ 1])}, wires)


def test_masks_can_be_entered_at_every_block() -> None:
    for bits in (12, 30, 60):
        word = word_of(bits)
        step = 64 // word.itemsize
        whole = mask(bytes(32), 0, 40 * step, word)
        assert np.array_equal(whole[3 * step : 9 * step], mask(bytes(32), 3 * step, 9 * step, word))
    with pytest.raises(ValueError, match="whole blocks"):
        mask(bytes(32), 3, 9, word_of(60))


def test_one_person_alone_is_no_sum() -> None:
    none = Vectors(*np.zeros((3, 0), dtype=np.int64))
    with pytest.raises(Refused, match="alone"):
        aggregate(plan_of(2, 4, 10, 1, 1, 1), none, none, np.array([4]), np.array([0]), os.urandom)


def parts_without(table: np.ndarray, out: np.ndarray) -> int:
    """Parts that are left of the graph without some people."""
    size, degree = table.shape
    kept = ~np.isin(np.arange(size), out)
    edges = np.repeat(np.arange(size), degree), table.ravel()
    inside = kept[edges[0]] & kept[edges[1]]
    graph = coo_array((np.ones(inside.sum()), [e[inside] for e in edges]), shape=(size, size))
    return len(np.unique(connected_components(graph, directed=False)[1][kept]))


@pytest.mark.parametrize(("size", "degree"), [(2, 1), (5, 2), (5, 4), (6, 5), (40, 8)])
def test_everybody_has_so_many_different_neighbours(size: int, degree: int) -> None:
    table = harary(np.random.default_rng(0).permutation(size), degree)
    assert table.shape == (size, degree)
    for i, row in enumerate(table):
        assert len(set(row.tolist())) == degree
        assert i not in row
        assert all(i in table[j] for j in row)


def test_two_runs_of_the_ring_cut_it_and_less_does_not() -> None:
    ring = np.random.default_rng(1).permutation(30)
    table = harary(ring, 6)
    assert parts_without(table, ring[[0, 1, 2, 15, 16, 17]]) == 2
    rng = np.random.default_rng(2)
    for _ in range(200):
        assert parts_without(table, rng.choice(30, 5, replace=False)) == 1


def test_an_odd_degree_joins_everybody_or_nobody() -> None:
    with pytest.raises(ValueError, match="even degree"):
        harary(np.arange(6), 3)
    with pytest.raises(ValueError, match="even degree"):
        harary(np.arange(4), 4)


def test_the_field_is_one_of_primes_and_holds_every_secret() -> None:
    p = shamir.PRIME
    assert p > 2**128
    # Fermat's test to many bases; the number was proved prime elsewhere.
    assert all(pow(a, p - 1, p) == 1 for a in range(2, 40))
    assert shamir.combine([1, 2], shamir.split(b"\xff" * 16, [1, 2], 2, os.urandom)) == b"\xff" * 16


@given(st.binary(min_size=16, max_size=16), st.data())
def test_any_t_shares_rebuild_the_secret(secret: bytes, data: st.DataObject) -> None:
    points = data.draw(st.lists(st.integers(1, 2**40), min_size=1, max_size=9, unique=True))
    threshold = data.draw(st.integers(1, len(points)))
    shares = shamir.split(secret, points, threshold, os.urandom)
    assert all(len(share) == shamir.SHARE_BYTES for share in shares)
    chosen = data.draw(st.permutations(range(len(points))))[:threshold]
    found = shamir.combine([points[i] for i in chosen], [shares[i] for i in chosen])
    assert found == secret


def test_a_share_alone_is_uniform() -> None:
    low = Counter(shamir.split(bytes(16), [1, 2], 2, os.urandom)[0][-1] % 4 for _ in range(4000))
    assert all(abs(count - 1000) < 5 * 27.4 for count in low.values())


def test_too_few_shares_rebuild_something_else() -> None:
    shares = shamir.split(b"one secret of us", [1, 2, 3], 3, os.urandom)
    # A wrong value may be too large for a secret, too.
    with contextlib.suppress(ValueError):
        assert shamir.combine([1, 2], shares[:2]) != b"one secret of us"


@pytest.mark.parametrize(
    ("secret", "points", "threshold"),
    [(b"short", [1], 1), (bytes(16), [1, 1], 2), (bytes(16), [1], 2), (bytes(16), [0, 1], 1)],
)
def test_what_shares_nothing_is_refused(secret: bytes, points: list[int], threshold: int) -> None:
    with pytest.raises(ValueError, match=r"secret has|different points"):
        shamir.split(secret, points, threshold, os.urandom)
