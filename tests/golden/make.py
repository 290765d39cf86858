"""Make golden values: run as `python -m tests.golden.make`, or by its path.

    --texts                 help of every command, printed answers, sentences of ledgers, names
    --numbers GROUP ...     releases, large, keys, preview, tasks, links, yaml, files

Texts may change on purpose: make them anew and read the difference. Numbers may not: what is
missing is added (a new mechanism, a new option), what differs from before is refused and named;
`--replace` takes it all the same. Release files are made once a format and never replaced: later
versions must read what earlier ones wrote.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

if __name__ == "__main__" and not __package__:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import explorer
from explorer.mechanisms import all_mechanisms
from explorer.releases.file import FORMAT
from explorer.scenario import Scenario
from tests.golden import files, kept, pins, said
from tests.golden.cases import BOUNDS, SEEDS, SMALL, cases
from tests.golden.measure import differences, drawn, golden
from tests.golden.screens import AS_FILES, plain

GROUPS = ("releases", "large", "keys", "preview", "tasks", "links", "yaml", "files")


def releases(large: bool = False) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Golden values of the releases of every mechanism, a file each."""
    folder = kept.NUMBERS / ("large" if large else "releases")
    for key in all_mechanisms():
        yield folder / f"{key}.json", {each.key: golden(each) for each in cases(key, large)}


def stages() -> list[str]:
    """The names of all stages that any golden release spends on."""
    found = {"split 0", "a stage of somebody's own"}
    for path in sorted((kept.NUMBERS / "releases").glob("*.json")):
        for each in kept.read(path).values():
            found |= {row[0] for row in each.get("ledger", [])}
    return sorted(found)


def numbers(group: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The golden values of a group, by the files that keep them."""
    if group in ("releases", "large"):
        yield from releases(group == "large")
    elif group == "keys":
        yield kept.NUMBERS / "keys.json", pins.matrix_keys()
    elif group == "preview":
        yield kept.NUMBERS / "preview.json", pins.preview(stages())
    elif group == "tasks":
        about = {"version": explorer.__version__, "keys": pins.task_keys()}
        yield kept.NUMBERS / "tasks.json", about
    elif group == "links":
        yield kept.NUMBERS / "links.json", pins.links()
    elif group == "yaml":
        for name in AS_FILES:
            path = kept.NUMBERS / "yaml" / f"{name}.yaml"
            yield path, {"text": Scenario.from_dict(plain(name)).to_yaml()}


def keep_numbers(path: Path, now: dict[str, Any], replace: bool) -> list[str]:
    """Add what is missing; returns what differs, which is kept as it was unless replaced."""
    as_text = path.suffix == ".yaml"
    before = kept.read(path) if not as_text else {}
    if as_text and path.exists():
        before = {"text": path.read_text("utf8")}
    differing = [
        f"{path.name}: {name}"
        for name, value in now.items()
        if name in before and different(before[name], value)
    ]
    values = now if replace else {**now, **before}
    if values != before:
        if as_text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(values["text"], "utf8")
        else:
            kept.write(path, values)
    return differing


def different(before: Any, now: Any) -> bool:
    """Whether two golden values differ by more than two machines do."""
    if isinstance(before, dict) and isinstance(now, dict):
        return bool(differences(before, now))
    return bool(before != now)


def make_files() -> None:
    """Write the release files of the present format that are not there yet."""
    folder = kept.FILES / f"format-{FORMAT}"
    folder.mkdir(parents=True, exist_ok=True)
    known = kept.read(folder / "found.json")
    for name in (*files.MADE, *files.BY_HAND):
        path = files.path_of(name, folder)
        if not path.exists():
            release = files.draw(name)
            release.save(path)
            known[name] = files.found(release)
    kept.write(folder / "found.json", known)


def texts() -> Iterator[tuple[str, str]]:
    """All that a person may read and that may be reworded, by the names of their files."""
    for name in said.HELPS:
        yield f"help-{name}.txt" if name else "help.txt", said.help_of(name)
    with tempfile.TemporaryDirectory() as folder:
        said.prepare(Path(folder))
        for name in said.COMMAND_LINES:
            yield f"printed-{name}.txt", said.printed(name, Path(folder))
    yield "ledger.txt", "".join(ledger_lines())
    yield "names.txt", "".join(f"{name}\n" for name in sorted(explorer.__all__))


def ledger_lines() -> Iterator[str]:
    """What releases of every mechanism and setting spent, and on what, as they tell it."""
    for key in all_mechanisms():
        for each in cases(key):
            if (each.shape, each.bound, each.seed) != (SMALL[1], BOUNDS[1], SEEDS[0]):
                continue
            release = drawn(each)
            yield f"{each.key}: {each.made()!r}\n    {release.summary()}\n"
            for row in release.ledger:
                yield (
                    f"    {row.stage}: epsilon {row.epsilon:.4g}, {row.draws} draws of sensitivity "
                    f"{row.sensitivity:.4g}, {row.composition}\n"
                )


def main() -> None:
    """Make what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", action="store_true")
    parser.add_argument("--numbers", nargs="+", default=[], choices=GROUPS)
    parser.add_argument("--replace", action="store_true")
    asked = parser.parse_args()
    if not (asked.texts or asked.numbers):
        parser.error("give --texts or --numbers")
    differing: list[str] = []
    for group in asked.numbers:
        for path, now in numbers(group):
            differing += keep_numbers(path, now, asked.replace)
    if "files" in asked.numbers:
        make_files()
    if asked.texts:
        kept.TEXTS.mkdir(exist_ok=True)
        for name, text in texts():
            (kept.TEXTS / name).write_text(text, "utf8")
    if differing:
        print("\n".join(differing))
        done = "replaced" if asked.replace else "kept as they were (--replace takes the new ones)"
        print(f"{len(differing)} golden values differ and were {done}.")
        sys.exit(0 if asked.replace else 1)


if __name__ == "__main__":
    main()
