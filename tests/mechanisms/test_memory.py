"""What happens to lie in new memory changes no result."""

from __future__ import annotations

import numpy as np
import pytest

from explorer import all_mechanisms

MAPS = sorted(key for key, kind in all_mechanisms().items() if 2 in kind.dimensions)


@pytest.mark.parametrize("side", [16, 256])
@pytest.mark.parametrize("key", MAPS)
def test_no_preview_depends_on_memory_that_was_not_filled_in(key, side, monkeypatch) -> None:
    counts = np.random.default_rng(5).poisson(np.outer(np.linspace(0, 3, side), np.ones(side)))
    made = all_mechanisms()[key](epsilon=1.0)
    # Compiled before: the compiler itself reads `np.empty`.
    made.release(counts, rng=3)
    empty, columns = np.empty, []
    for byte in (0, 0xFF, 0x55):

        def filled(*args, fill=byte, **how):
            array = empty(*args, **how)
            if not array.dtype.hasobject:
                array.reshape(-1).view(np.uint8).fill(fill)
            return array

        monkeypatch.setattr(np, "empty", filled)
        tree = made.release(counts, rng=3).tree
        monkeypatch.setattr(np, "empty", empty)
        columns.append([tree.lower, tree.upper, tree.parent, tree.value, tree.precision])
    for other in columns[1:]:
        for one, two in zip(columns[0], other, strict=True):
            np.testing.assert_array_equal(one, two)
