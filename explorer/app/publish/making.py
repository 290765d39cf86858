"""From a drawn release and what a person says of it to a folder, checked and packed."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.errors import InputError
from explorer.mechanisms import all_mechanisms
from explorer.privacy.drawn import Drawn, DrawnReleases
from explorer.privacy.ledger import Ledger
from explorer.privacy.receipts import receipts
from explorer.publish.about import About, KeptAnswers
from explorer.publish.checks import checked
from explorer.publish.directory import write_directory
from explorer.publish.manifest import size_and_sum
from explorer.publish.names import RELEASE
from explorer.publish.published import Booking, Boxes, Method, Published
from explorer.publish.registry import slug
from explorer.publish.signing import PublisherKey, fingerprint
from explorer.publish.verdict import Verdict
from explorer.queries.foreign import foreign_ranges
from explorer.releases.release import Release


@dataclass(frozen=True, eq=False)
class Folder:
    """A folder that is made.

    Attributes
    ----------
    drawn : the release that it is of
    name : of the folder
    content : of the archive that holds it
    verdict : what `verify` finds of it
    signed_by : the fingerprint of the key, "" without one
    sha256 : of its release
    """

    drawn: Drawn
    name: str
    content: bytes
    verdict: Verdict
    signed_by: str
    sha256: str


def read_boxes(drawn: Drawn, content: bytes, name: str, given_up: Callable[[], bool]) -> Boxes:
    """Boxes and polygons that a visitor sends, for the map of a drawn release; read in a sandbox.

    Raises
    ------
    InputError
        For a file that holds none, more than a report takes, and a release that is no map.
    """
    grid = Release.load(DrawnReleases(Ledger().path).path(drawn.token)).grid
    return Boxes.of_file(foreign_ranges(content, grid, name, given_up=given_up))


def make(
    ledger: Ledger,
    drawn: Drawn,
    answers: Mapping[str, Any],
    signed: bool,
    boxes: Boxes | None = None,
) -> Folder:
    """Make the folder of a drawn release, next to the page: it takes seconds.

    Raises
    ------
    InputError
        For answers that are missing, a release that cannot be published or is not there any more,
        and where there is no space.
    """
    about = About.of(answers)
    drawn_releases = DrawnReleases(ledger.path)
    booked = receipts(ledger, [drawn.token])
    if not booked or not drawn_releases.known(drawn.token):
        raise InputError("This release is not kept any more: it was saved before, or given up.")
    booking = Booking.of(booked[0])
    release = Release.load(drawn_releases.path(drawn.token))
    kind = all_mechanisms().get(release.mechanism)
    if kind is None:
        raise InputError(f"{drawn.title} is by no mechanism of maps: save it as a file.")
    published = Published(release, about, booking, Method.of(kind), boxes)
    KeptAnswers(ledger.path).keep(drawn.population, about.facts())
    key = PublisherKey(ledger.path.with_name("publisher.key")) if signed else None
    with tempfile.TemporaryDirectory(prefix="explorer-") as place:
        folder = Path(place) / slug(published)
        write_directory(published, folder, key)
        verdict = checked(folder)
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(folder.iterdir()):
                archive.write(path, f"{folder.name}/{path.name}")
        return Folder(
            drawn,
            folder.name,
            content.getvalue(),
            verdict,
            "" if key is None else fingerprint(key.public),
            size_and_sum(folder / RELEASE)["sha256"],
        )
