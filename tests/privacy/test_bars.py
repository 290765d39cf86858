import io
import time

import numpy as np
import pytest

from explorer.mechanisms import HTF, Identity
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy import bars
from explorer.privacy.ledger import Ledger


@pytest.fixture
def seen(monkeypatch) -> list[float]:
    """What a bar was told, in place of one in a terminal."""
    told: list[float] = []

    class Told:
        def __init__(self, label: str) -> None:
            assert label

        def __call__(self, done: float) -> None:
            told.append(done)

        def close(self) -> None:
            told.append(2.0)

    monkeypatch.setattr(bars, "Bar", Told)
    return told


@pytest.fixture
def matrix() -> FrequencyMatrix:
    return FrequencyMatrix.from_array(np.random.default_rng(2).poisson(4, (32, 32)))


def test_true_is_a_bar_and_changes_no_draw(matrix, seen) -> None:
    with_bar = HTF(1.0).release(matrix, 3, progress=True)
    assert seen[-2:] == [1.0, 2.0], "all is told, and the bar is taken away"
    told = [each for each in seen if each <= 1.0]
    assert told == sorted(told)
    np.testing.assert_array_equal(with_bar.counts, HTF(1.0).release(matrix, 3).counts)


def begun_earlier(bar: bars.Bar, seconds: float) -> None:
    vars(bar)["_bar"].start_t -= seconds


def test_a_bar_waits_half_a_second_and_goes(monkeypatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    quick = bars.Bar("quick")
    quick(0.5)
    quick(1.0)
    quick.close()
    assert "quick" not in written.getvalue(), "what is done at once needs no bar"
    slow = bars.Bar("slow")
    begun_earlier(slow, 2 * bars.DELAY)
    time.sleep(0.11)  # tqdm writes ten times a second at most
    slow(0.4)
    assert "slow  40%" in written.getvalue()
    slow(0.0)  # a step of several measurements begins anew
    time.sleep(0.11)
    slow(0.7)
    assert "slow  70%" in written.getvalue()
    slow.close()
    assert written.getvalue().endswith("\r"), "the line is left empty"


def test_what_is_told_cannot_take_a_booked_release_away(matrix, tmp_path) -> None:
    told = []

    def broken(part: float) -> None:
        told.append(part)
        raise ZeroDivisionError

    ledger = Ledger(tmp_path / "ledger.sqlite3")
    with pytest.warns(UserWarning, match="drawn to its end"):
        release = Identity(0.5).release(matrix, progress=broken, ledger=ledger)
    assert not release.preview
    assert len(told) == 1, "it is not told any more"
    # A preview costs nothing: whoever does not want it stops it.
    with pytest.raises(ZeroDivisionError):
        Identity(0.5).release(matrix, 3, progress=broken)
