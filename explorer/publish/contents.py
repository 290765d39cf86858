"""What must hold of a folder whose files are as they were: do they say the same, and is it so?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import yaml

from explorer.errors import InputError
from explorer.publish import registry
from explorer.publish.agreement import disagreements
from explorer.publish.manifest import as_bytes, manifest_of
from explorer.publish.names import REGISTRY, RELEASE, REPORT
from explorer.publish.published import Published
from explorer.publish.verdict import Check
from explorer.releases.release import Release
from explorer.releases.units import to_epsilon
from explorer.version import __version__

#: Bytes that a release may unpack to.
MOST = 2 * 10**9
#: What of a manifest another version may say in other words.
_WORDED = ("software", "checksum", "lineage", "citation", "files")


def contents(folder: Path, manifest: dict[str, Any]) -> list[Check]:
    """The release, what the manifest says of it, the registry's entry and all formats."""
    path = folder / RELEASE
    size = _unpacked(path)
    if size > MOST:
        return [Check("release", False, "It would unpack to more than 2 GB.")]
    try:
        release = Release.load(path)
    except InputError as error:
        why = error.__cause__ or error
        return [Check("release", False, f"It cannot be loaded: {why}.")]
    checks = [
        Check(
            "preview",
            not release.preview,
            "A preview: it is not private and must not be published." if release.preview else "",
        ),
        Check("tiling", True, f"{release.n_leaves:,} leaves tile the extent"),
        _paths(release),
        _stages(release),
    ]
    if release.preview:
        return checks
    try:
        published = Published.of_manifest(release, manifest)
        again = json.loads(as_bytes(manifest_of(published, folder)))
        again["format"] = manifest["format"]
        if not isinstance(manifest["software"], dict):
            raise TypeError
    # A budget or a place may be a number of a thousand digits.
    except (InputError, ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        problem = str(error) if isinstance(error, InputError) else "It is not complete."
        return [*checks, Check("facts", False, f"The manifest does not fit the release: {problem}")]
    checks.append(_facts(manifest, again))
    checks.append(_registry(folder, manifest, published))
    same_words = manifest["software"] == again["software"]
    for name, problem in disagreements(folder, published, same_words=same_words).items():
        detail = f"{name}: {problem}." if problem else ""
        if name == REPORT and not problem and not same_words:
            detail = "other versions are said to have written it: its words were not compared"
        checks.append(Check(f"{name}: contents", not problem, detail))
    return checks


def _unpacked(path: Path) -> int:
    """Bytes that a Parquet file says it unpacks to, and cannot be less than what is read."""
    try:
        footer = pq.read_metadata(path)
        groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
        return int(sum(group.total_byte_size for group in groups))
    except (OSError, ValueError):
        return 0


def _paths(release: Release) -> Check:
    elsewhere = sum(round(part * 10**12) for _, part in release.elsewhere)
    limit = int(release.tree.path_spent.sum(axis=1).max()) + elsewhere
    text = f"paths spend epsilon {to_epsilon(limit):.12g} at most"
    # What passed elsewhere is kept as a decimal: a unit may be lost by reading it.
    if release.tree.spent.min() < 0 or limit > release.units + len(release.elsewhere):
        return Check("paths", False, f"The {text}, more than the {release.epsilon:.12g} paid.")
    return Check("paths", True, text)


def _stages(release: Release) -> Check:
    """The ledger's rows are those of the tree, and add up to epsilon."""
    stages, rows = release.stages(), [(row.stage, row.epsilon) for row in release.ledger]
    same = [name for name, _ in stages] == [name for name, _ in rows] and np.allclose(
        [part for _, part in stages], [part for _, part in rows], rtol=1e-9, atol=1e-12
    )
    total = sum(part for _, part in rows)
    if not same or not 0 < total <= release.epsilon * (1 + 1e-9):
        return Check("stages", False, "What stages cost does not add up to what was booked.")
    # Parts are kept as decimals: their sum may be another one in the last.
    return Check("stages", True, f"stages add up to epsilon {total:.9g}")


def _facts(manifest: Mapping[str, Any], again: Mapping[str, Any]) -> Check:
    """What the manifest says, computed anew from the release."""
    version = manifest.get("software", {})
    same = isinstance(version, dict) and version.get("dp-explorer") == __version__
    left_out = ("software", "checksum") if same else _WORDED
    wrong = [
        name
        for name in {**manifest, **again}
        if name not in left_out and not _alike(manifest.get(name), again.get(name))
    ]
    if wrong:
        names = ", ".join(sorted(map(str, wrong)))
        return Check(
            "facts", False, f"The manifest says of {names[:80]} what the release does not."
        )
    text = "" if same else "; the words of another version were not compared"
    return Check("facts", True, f"the manifest says what the release does{text}")


def _alike(one: Any, other: Any) -> bool:
    """Whether values are the same, numbers to what sums of floats are on another machine."""
    if isinstance(one, float) and isinstance(other, float):
        return bool(np.isclose(one, other, rtol=1e-9, atol=1e-9))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[n], other[n]) for n in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    return bool(one == other)


def _registry(folder: Path, manifest: Mapping[str, Any], published: Published) -> Check:
    try:
        text = (folder / REGISTRY).read_bytes().decode("utf8")
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text)):
            raise ValueError
        stored = yaml.safe_load(text)
    except (ValueError, yaml.YAMLError, RecursionError):
        return Check("registry entry", False, "It is no entry of the registry.")
    expected = registry.entry(published)
    if manifest["software"].get("dp-explorer") == __version__:
        same = _but_library(stored, manifest) == _but_library(expected, manifest)
    else:
        same = _keys(stored) == _keys(expected)
    return Check("registry entry", same, "" if same else "It says something else than the release.")


def _but_library(entry: Any, manifest: Mapping[str, Any]) -> str:
    """An entry without the number of the noise's library, which is that of anyone who drew."""
    text = registry.as_text(entry) if isinstance(entry, dict) else ""
    for version in (manifest["software"].get("opendp"), metadata.version("opendp")):
        text = text.replace(str(version), "")
    return " ".join(text.split())


def _keys(entry: Any) -> Any:
    return {n: _keys(value) for n, value in entry.items()} if isinstance(entry, dict) else None
