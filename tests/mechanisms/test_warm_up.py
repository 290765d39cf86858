"""What a release needs is compiled before it is paid for: `warm_up` leaves nothing to compile."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.mechanisms import all_mechanisms, trip_mechanisms

ROOT = Path(__file__).resolve().parents[2]

# Each in a fork of a process that has compiled nothing: every mechanism as it comes, and with the
# last of the choices that each of its parameters has. The data are a town in a quiet country, of
# two other shapes than what is made up for warming.
FORKS = """
import gc, json, os
import numpy as np
import param
from numba.core.dispatcher import Dispatcher
from explorer import FrequencyMatrix
from explorer.mechanisms import QuadTree, all_mechanisms, trip_mechanisms
from explorer.privacy.noise import PreviewNoise
from explorer.trips.matrix import TripMatrix

class Asked(PreviewNoise):
    "Asked for every draw, as OpenDP is; previews have a shorter way."

def signatures():
    mine = [each for each in gc.get_objects() if isinstance(each, Dispatcher)]
    mine = [each for each in mine if each.py_func.__module__.startswith("explorer")]
    return {(each.py_func.__module__, each.py_func.__name__): len(each.signatures) for each in mine}

def left_to_compile(made):
    made.warm_up()
    before = signatures()
    assert sum(before.values()) > 0
    rng = np.random.default_rng(0)
    counts = rng.poisson(3, (150, 97))
    counts[50:60, 40:52] += 4000
    for shape in (counts, counts[:30, :20].copy()):
        made.release(FrequencyMatrix.from_array(shape), rng=1).density()
        made.release(FrequencyMatrix.from_array(shape), rng=Asked(1)).density()
    after = signatures()
    return sorted(".".join(name) for name in after if after[name] > before.get(name, 0))

def left_of_trips(made):
    counts = TripMatrix.from_coordinates(cells, [16, 16])
    made.warm_up(counts)
    before = signatures()
    made.release(counts, rng=1).summary()
    after = signatures()
    return sorted(".".join(name) for name in after if after[name] > before.get(name, 0))

def of_both_kinds(cls):
    declared = {name: cls.param[name] for name in cls.tunables()}
    chosen = {n: d.objects[-1] for n, d in declared.items() if isinstance(d, param.Selector)}
    # Two levels say as much as eight, of which trips would have millions of nodes.
    small = {"height": 2} if cls is QuadTree else {}
    few = [cls(epsilon=2, **small)]
    return few + [cls(epsilon=2, **small, **chosen)] if chosen else few

made = [each for cls in all_mechanisms().values() for each in of_both_kinds(cls)]
cells = np.random.default_rng(1).integers(0, 16, (3000, 4)) // 2
trips = [each for cls in trip_mechanisms().values() for each in of_both_kinds(cls)]
found = {}
# Some mechanisms are of both kinds, and equal to themselves: what is asked goes along.
tasks = [(left_to_compile, each, "") for each in made]
tasks += [(left_of_trips, each, " of trips") for each in trips]
for left, each, of in tasks:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            told = json.dumps(left(each))
        except BaseException as error:
            told = json.dumps(repr(error))
        os.write(write, told.encode())
        os._exit(0)
    os.waitpid(child, 0)
    # The last choices of some are what they come with.
    found[f"{len(found)}: {each!r}{of}"] = json.loads(os.read(read, 65536))
assert len(found) == len(tasks)
print(json.dumps(found))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="forks")
def test_nothing_is_left_to_compile_after_warming_up() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKS],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    of_trips = sum(each.endswith(" of trips") for each in found)
    assert of_trips >= len(trip_mechanisms())
    assert len(found) - of_trips >= len(all_mechanisms())
    assert {made: left for made, left in found.items() if left} == {}
