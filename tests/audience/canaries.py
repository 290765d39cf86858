"""A curator's server on data whose counts, names and paths stand nowhere else, and beside it a
server for others that shows two of its releases; and the search for what must not get across.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import http.client
import io
import json
import pickle
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from PIL import Image

from explorer.audience.import_guard import forbidden
from explorer.releases.release import Release
from tests.audience.serving import ROOT, Started
from tests.commands.test_no_room import search

#: Of a person, a file and a folder of the curator's.
TEXTS = (b"Zebulon Quillfeather", b"rides_of_quillfeather", b"vault-4711")
#: Draws two releases of the canaries, publishes them, and serves the exact counts.
CURATOR = """
import sys
from dataclasses import replace
from pathlib import Path
import panel as pn
from explorer.app import Explore
from explorer.grid.grid import Grid
from explorer.mechanisms import mechanism
from explorer.points.points import read_points
from explorer.publish.directory import write_directory
from tests.publish.folders import ABOUT, published

points = read_points("rides_of_quillfeather.csv", lon="lon", lat="lat", weight="n")
matrix = Grid.around(2.35, 48.85, 8000, shape=8).count(points)
for name, title in (("identity", "Rides of Amber"), ("quadtree", "Rides of Amber, after")):
    release = mechanism(name)(epsilon=1e-6).release(matrix)
    folder = published(release, about=replace(ABOUT, title=title), boxes=None)
    write_directory(folder, Path(sys.argv[1]) / name)
make = lambda: Explore(matrix, mechanism="identity", epsilon=1e-6).page()
server = pn.serve(make, port=0, show=False, start=False)
print(f"curator is at http://localhost:{server.port}", flush=True)
server.start()
server.io_loop.start()
"""
POINTS = """
import numpy as np, pyproj
from explorer.grid.grid import Grid
from tests.commands.test_no_room import CANARIES
grid = Grid.around(2.35, 48.85, 8000, shape=8)
centre = (np.arange(8) + .5 - 4) * 1000
x, y = (each.ravel() for each in np.meshgrid(centre, centre))
lon, lat = grid.to_lonlat(x, y)
print("lon,lat,n,user")
for row in zip(lon, lat, CANARIES):
    print(",".join(map(repr, map(float, row[:2]))) + f",{row[2]},Zebulon Quillfeather")
"""


class House:
    """Both servers.

    Parameters
    ----------
    folder : of a test
    origins : of pages that may frame a map
    """

    def __init__(self, folder: Path, origins: Sequence[str] = ()) -> None:
        vault, self.shown = folder / "vault-4711", folder / "shown"
        self.space, self.home = folder / "space", folder / "home"
        for each in (vault, self.shown, self.space, self.home):
            each.mkdir()
        made = [sys.executable, "-c", POINTS]
        points = subprocess.run(made, cwd=ROOT, capture_output=True, check=True).stdout
        (vault / "rides_of_quillfeather.csv").write_bytes(points)
        command = [sys.executable, "-c", CURATOR, str(self.shown)]
        self.curator = Started(command, vault, EXPLORER_LEDGER=str(vault / "ledger.sqlite3"))
        begin = {"folders": [str(self.shown)], "port": 0, "origins": list(origins)}
        self.audience = Started(
            [sys.executable, "-P", "-m", "explorer.audience", json.dumps(begin)],
            self.home,
            TMPDIR=str(self.space),
            # Each module that any of its processes loads is written into what it says.
            PYTHONPROFILEIMPORTTIME="1",
        )
        self.searched = 0

    @property
    def url(self) -> str:
        """Where the server for others is."""
        return f"http://localhost:{self.audience.port}"

    @property
    def keys(self) -> list[str]:
        """The maps that it shows."""
        return list(dict.fromkeys(re.findall(r'"/map/([0-9a-f]+)"', self.ask("/")[1].decode())))

    def ask(
        self, path: str, method: str = "GET", body: bytes | None = None, **heads: str
    ) -> tuple[int, bytes]:
        """Status and content of an answer, all of which is searched."""
        line = http.client.HTTPConnection("127.0.0.1", self.audience.port, timeout=30)
        try:
            line.putrequest(method, path, skip_host="Host" in heads)
            for name, value in heads.items():
                line.putheader(name, value)
            if body is not None:
                line.putheader("Content-Length", str(len(body)))
            line.endheaders(body)
            answer = line.getresponse()
            content = answer.read()
        finally:
            line.close()
        self.look(str(answer.getheaders()).encode(), f"the heads of {path}")
        self.look(content, path)
        return answer.status, content

    def look(self, content: bytes, where: str) -> None:
        """Search what came from the server for others, and what is packed in it."""
        self.searched += 1
        for part in unpacked(content):
            search(part, where)
            for text in TEXTS:
                coded = base64.b64encode(text)[:-4]
                assert text not in part, f"{text!r} in {where}"
                assert coded not in part, f"{text!r} in base64 in {where}"

    def processes(self) -> list[int]:
        """The numbers of the audience's processes."""
        found = [self.audience.process.pid]
        for each in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError, ValueError):
                parent = int(each.read_text().rpartition(")")[2].split()[1])
                if parent in found:
                    found.append(int(each.parent.name))
        return found

    def stop(self) -> None:
        """End both, and search what is left."""
        for pid in self.processes():
            mapped = Path(f"/proc/{pid}/maps").read_text()
            assert not re.search(r"gdal|opendp", mapped), "a library of the curator's"
        self.curator.stop()
        self.audience.stop()
        time.sleep(0.2)
        said = bytes(self.audience.said)
        self.look(said, "what it said")
        loaded = {each.strip() for each in re.findall(r"\|\s+([\w.]+)\n", said.decode())}
        assert "explorer.audience.handlers" in loaded, "no module was written down"
        assert not sorted(filter(forbidden, loaded))
        left = [each for place in (self.space, self.home) for each in place.rglob("*")]
        assert left == [], "something was left in a folder"


def unpacked(content: bytes) -> list[bytes]:
    """Content as it is, and what is packed in it: gzip, pixels, a release's columns."""
    found = [content]
    if content[:2] == b"\x1f\x8b":
        found.append(gzip.decompress(content))
    if content[:4] == b"\x89PNG":
        found.append(Image.open(io.BytesIO(content)).tobytes())
    if content[:4] == b"PAR1":
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "release.parquet"
            path.write_bytes(content)
            found.append(pickle.dumps(Release.load(path)))
    return found


def fuzz(house: House) -> dict[str, int]:
    """Every route with every parameter as no page sends it; counts of answers by status."""
    odd: list[Any] = [
        *("", "0", "-1", "nan", "inf", "1e300", "9" * 400, "None", "null", "true", "[]", "{}"),
        *("../../etc/passwd", "%2e%2e%2f", "%00", "%ff%fe", "<script>", "'\"><img src=x>", "\\"),
        *("file:///etc/passwd", "${7*7}", "{{7*7}}", "a" * 4000, "0,0,1,1", "1,2", "1e999,0,1,1"),
    ]
    keys = house.keys
    quoted = [quote(each, safe="%,") for each in odd]
    paths = []
    for each in quoted:
        short = each[:60]
        paths += [f"/{short}", f"/map/{short}", f"/map/{keys[0]}/{short}"]
        paths += [f"/files/{keys[0]}/{short}", f"/static/{short}/map.js", f"/report/{short}"]
        paths += [f"/picture/{short}.png", f"/map/{keys[0]}?embed={each}"]
        paths += [f"/compare?first={each}&second={keys[1]}", f"/leaf/{keys[0]}?at={each}"]
        right = {"at": "-4000,-4000,4000,4000", "size": "64,64", "look": "paper", "lines": "1"}
        for name in (*right, "with"):
            asked = "&".join(f"{n}={v}" for n, v in {**right, name: each}.items())
            paths.append(f"/picture/{keys[0]}.png?{asked}")
    found: dict[str, int] = {}
    for path in paths:
        status, _ = house.ask(path)
        found[str(status)] = found.get(str(status), 0) + 1
    bodies: list[Any] = [
        *(each.encode() for each in odd),
        *(json.dumps({"maps": each, "areas": []}).encode() for each in (odd, 1, None, [[]], {})),
        *(json.dumps({"maps": keys, "areas": [each]}).encode() for each in odd),
        *(
            json.dumps({"maps": keys, "areas": [{"box": each}]}).encode()
            for each in ([1], [0, 0, 1e300, 1], ["0"] * 4, [10**400] * 4, None, {})
        ),
        *(
            json.dumps({"maps": keys, "areas": [{"shape": each}]}).encode()
            for each in ([[0, 0]] * 3, [[0, 0], [1, 1]], [[1e300, 0]] * 4, [[[]]], 7)
        ),
    ]
    for body in bodies:
        status, _ = house.ask("/answers", "POST", body)
        found[str(status)] = found.get(str(status), 0) + 1
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE", "HEAD", "PROPFIND"):
        status, _ = house.ask("/", method)
        found[str(status)] = found.get(str(status), 0) + 1
    for host in ("evil.example", "", "localhost"):
        status, _ = house.ask("/", Host=host)
        found[str(status)] = found.get(str(status), 0) + 1
    return found


def everything(house: House) -> None:
    """Every address of every map, as pages ask for them."""
    from explorer.publish.names import FILES, MANIFEST

    keys = house.keys
    assert len(keys) == 2
    assert house.ask("/")[0] == house.ask("/compare")[0] == house.ask("/health")[0] == 200
    for asset in re.findall(r'"(/static/[^"]+)"', house.ask("/compare")[1].decode()):
        assert house.ask(asset)[0] == 200
    areas = [{"box": [-1000, -1000, 1000, 1000]}, {"shape": [[0, 0], [3000, 0], [0, 3000]]}]
    # One cell each: what they hold is a canary and noise.
    areas += [{"box": [x, -4000, x + 1000, -3000]} for x in range(-4000, 4000, 1000)]
    for key, other in (keys, keys[::-1]):
        for path in (f"/map/{key}", f"/map/{key}?embed=1", f"/report/{key}"):
            assert house.ask(path)[0] == 200
        for name in (*FILES, MANIFEST):
            assert house.ask(f"/files/{key}/{name}")[0] == 200
        at = "-4000,-4000,4000,4000"
        for look in ("paper", "cividis", "magma"):
            for lines in "01":
                more = f"at={at}&size=64,64&look={look}&lines={lines}"
                assert house.ask(f"/picture/{key}.png?{more}")[0] == 200
        assert house.ask(f"/picture/{key}.png?{more}&with={other}")[0] == 200
        for x in range(-3500, 4000, 1000):
            assert house.ask(f"/leaf/{key}?at={x},-3500")[0] == 200
        body = json.dumps({"maps": [key, other], "areas": areas}).encode()
        assert house.ask("/answers", "POST", body)[0] == 200
