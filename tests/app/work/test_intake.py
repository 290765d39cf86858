"""What a connection may send: thirty messages and 2 MB a second, 1 MB a message, and files."""

import asyncio
import json
from types import SimpleNamespace

import pytest
from bokeh.protocol import Protocol
from bokeh.protocol.receiver import Receiver

from explorer.app.work import intake
from explorer.app.work.intake import Intake, TooLarge, kind_of
from explorer.grid.allowance import Buckets


@pytest.fixture(autouse=True)
def by_hand(clock, monkeypatch) -> None:
    monkeypatch.setattr("explorer.grid.allowance.time", clock)
    monkeypatch.setattr(intake, "_FILES", Buckets(intake.FILES, intake.FILES_AT_ONCE))


def message(content="{}", arrays=()) -> list[tuple[str, str | bytes]]:
    """The parts of a message and what they are."""
    head = [("header", "{}"), ("metadata", "{}"), ("content", content)]
    pairs = [
        part for each in arrays for part in (("buffer_header", "{}"), ("buffer_payload", each))
    ]
    return [*head, *pairs]


def piece(size: int) -> list[tuple[str, str | bytes]]:
    return message('{"status": "upload_event"}', [b"x" * size])


def send(one: Intake, parts, clock=None) -> float:
    """Seconds that a message waits in all."""
    waited = 0.0
    for kind, part in parts:
        wait = one.wait(part, kind)
        waited += wait
        if clock is not None:
            clock.now += wait
    return waited


def test_thirty_messages_a_second_are_taken_for_ever_and_a_burst_of_more(clock) -> None:
    one = Intake("192.0.2.7")
    for _ in range(1000):
        assert send(one, message()) == 0
        clock.now += 1 / intake.MESSAGES
    assert sum(send(one, message()) for _ in range(intake.MESSAGES_AT_ONCE)) < 1e-6
    assert one.wait("{}", "header") == pytest.approx(1 / intake.MESSAGES)
    other = Intake("192.0.2.7")
    assert send(other, message()) == 0, "nobody else at this address waits"


def test_many_arrays_in_one_message_count() -> None:
    one = Intake("192.0.2.7")
    many = message(arrays=[b"x"] * (2 * intake.MESSAGES_AT_ONCE))
    assert send(one, many) > 1


def test_two_megabytes_a_second_are_taken_outside_files(clock) -> None:
    one = Intake("192.0.2.7")
    large = message("x" * 990_000)
    found = [send(one, large, clock) for _ in range(20)]
    assert found[:4] == [0] * 4
    sent = 20 * (990_000 + 4)
    assert sum(found) == pytest.approx((sent - intake.BYTES_AT_ONCE) / intake.BYTES)


@pytest.mark.parametrize(
    "parts",
    [
        message("x" * 10_000_000),
        message("x" * 1_000_001),
        message(arrays=[b"x" * 600_000, b"x" * 600_000]),
        [("header", "x" * 20_000)],
        [("header", "{}"), ("metadata", "x" * 1_000_001)],
        [*message(), ("buffer_header", "x" * 20_000)],
        piece(12_000_001),
    ],
)
def test_a_message_that_no_browser_sends_is_too_large(parts) -> None:
    one = Intake("192.0.2.7")
    with pytest.raises(TooLarge):
        send(one, parts)
    # What has arrived already is not read either.
    with pytest.raises(TooLarge):
        send(one, message())


def test_pieces_of_files_are_taken_by_address(clock) -> None:
    one, same, other = Intake("192.0.2.7"), Intake("192.0.2.7"), Intake("192.0.2.8")
    size = 10_485_760
    taken = [send(each, piece(size)) for each in (one, same) * 3]
    assert taken == [0] * 6
    assert send(same, piece(size)) > 0
    assert send(other, piece(size)) == 0
    # Nothing else of that address waits for its files.
    assert send(one, message()) == 0
    clock.now += 60
    assert send(one, piece(size)) == 0


def test_a_message_after_a_file_is_measured_anew() -> None:
    one = Intake("192.0.2.7")
    send(one, piece(10_000_000))
    send(one, message("x" * 999_000))
    send(one, message("x" * 999_000))
    with pytest.raises(TooLarge):
        send(one, message("x" * 1_000_001))


def test_parts_are_what_the_receiver_takes_them_for() -> None:
    """Bokeh's receiver must go on naming its steps so."""
    protocol = Protocol()
    receiver = Receiver(protocol)
    connection = SimpleNamespace(receiver=receiver)
    header = {"msgid": "1", "msgtype": "PATCH-DOC", "num_buffers": 1}
    parts = [
        ("header", json.dumps(header)),
        ("metadata", "{}"),
        ("content", '{"events": []}'),
        ("buffer_header", '{"id": "1"}'),
        ("buffer_payload", b"x"),
    ]

    async def visit() -> None:
        for kind, part in parts:
            assert kind_of(connection) == kind
            await receiver.consume(part)
        assert kind_of(connection) == "header"

    asyncio.run(visit())
    assert kind_of(SimpleNamespace(receiver=None)) == "header"
