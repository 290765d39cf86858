"""What a release needs is compiled before it is paid for: after `warm_up` nothing is left to do."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Each choice in a fork of a process that has compiled nothing. Counts of a town in a quiet country,
# of another shape than what is made up for warming.
FORKS = """
import gc, json, os, sys
import numpy as np
import param
from numba.core.dispatcher import Dispatcher
from explorer import FrequencyMatrix
from explorer.mechanisms import mechanism

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
        type(made).release(made, FrequencyMatrix.from_array(shape), rng=1).density()
    after = signatures()
    return sorted(".".join(name) for name in after if after[name] > before.get(name, 0))

cls = mechanism(sys.argv[1])
choices = [{}]
for name in cls.tunables():
    declared = cls.param[name]
    if isinstance(declared, param.Selector):
        choices += [{name: each} for each in declared.objects if each != declared.default]
found = {}
for choice in choices:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            told = json.dumps(left_to_compile(cls(epsilon=2, **choice)))
        except BaseException as error:
            told = json.dumps(repr(error))
        os.write(write, told.encode())
        os._exit(0)
    os.waitpid(child, 0)
    found[repr(choice)] = json.loads(os.read(read, 65536))
print(json.dumps(found))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="forks")
@pytest.mark.parametrize("key", ["identity", "htf"])
def test_nothing_is_left_to_compile_after_warming_up(key: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKS, key],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) >= 1
    assert {choice: left for choice, left in found.items() if left} == {}
