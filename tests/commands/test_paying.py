"""A second Ctrl-C gives a booked release up, whenever it comes."""

import signal

import pytest

from explorer.commands.paying import Payment, saved_first
from explorer.privacy.ledger import Ledger


@pytest.mark.parametrize("while_writing", [1, 2])
def test_an_interrupt_that_comes_while_the_ledger_writes(tmp_path, monkeypatch, while_writing):
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "ledger.db"))
    write, reached = Ledger.book, []

    def interrupted(self, *args):
        number = write(self, *args)
        for _ in range(while_writing):
            signal.raise_signal(signal.SIGINT)
        return number

    monkeypatch.setattr(Ledger, "book", interrupted)
    payment = Payment()

    def paid_and_drawn() -> None:
        with saved_first(payment):
            payment.book("a" * 64, 5, "htf")
            reached.append("drawn and saved")

    with pytest.raises(KeyboardInterrupt):
        paid_and_drawn()
    assert reached == (["drawn and saved"] if while_writing == 1 else [])
    assert payment.booked
    assert len(payment.rows()) == 1


def test_a_second_interrupt_while_the_first_is_answered(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "ledger.db"))
    said = []

    def hasty(_number: int, text: bytes) -> int:
        said.append(text)
        if len(said) == 1:
            signal.raise_signal(signal.SIGINT)
        return len(text)

    monkeypatch.setattr("explorer.commands.paying.os.write", hasty)
    payment, reached = Payment(), []

    def paid_and_drawn() -> None:
        with saved_first(payment):
            payment.book("a" * 64, 5, "htf")
            signal.raise_signal(signal.SIGINT)
            reached.append("drawn and saved")

    with pytest.raises(KeyboardInterrupt):
        paid_and_drawn()
    assert not reached
    assert len(said) == 1
