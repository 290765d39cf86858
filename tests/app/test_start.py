"""What a server loads before a page is opened: nothing of the pages, unless it shall be warm."""

from __future__ import annotations

import subprocess
import sys

import pytest

from explorer.app.pages import PAGES
from explorer.app.server import serve
from explorer.errors import InputError

CODE = """
import sys
from explorer.app.server import serve
serve(port=0, open=False, start=False, say=len, address='0.0.0.0', proxied=True).stop()
print(*(name for name in sys.modules))
"""
HEAVY = {
    "numba",
    "pandas",
    "scipy",
    "pyarrow",
    "pyproj",
    "shapely",
    "geopandas",
    "holoviews",
    "dask",
}


def test_a_server_listens_before_it_loads_a_page() -> None:
    run = [sys.executable, "-c", CODE]
    loaded = set(subprocess.run(run, capture_output=True, text=True, check=True).stdout.split())
    assert not {page.make.partition(":")[0] for page in PAGES} & loaded
    assert not HEAVY & loaded


@pytest.mark.parametrize("wrong", [{"mechanism": "nope"}, {"side": 17}, {"sidee": 256}])
def test_a_wrong_first_choice_is_refused_before_anybody_opens_a_page(wrong) -> None:
    with pytest.raises(InputError):
        serve("madeup", port=0, open=False, start=False, **wrong)


SIGNATURES = """
import gc, sys
from numba.core.dispatcher import Dispatcher

def compiled():
    kernels = [kernel for kernel in gc.get_objects() if isinstance(kernel, Dispatcher)]
    kernels = [kernel for kernel in kernels if kernel.py_func.__module__.startswith("explorer")]
    return {
        (kernel.py_func.__module__, kernel.py_func.__name__, str(signature))
        for kernel in kernels
        for signature in kernel.signatures
    }
"""
NO_PAGE = f"""
{SIGNATURES}
from explorer.app.pages import PAGES
PAGES[0].compute(city="madeup")
assert not {{"panel", "pandas", "holoviews"}} & {{*sys.modules}}
before = compiled()
assert before
page = PAGES[0].load()("madeup")
page.page()
assert page.screen is not None
print(*sorted(compiled() - before))
"""


def test_all_that_the_first_page_computes_with_is_compiled_without_building_a_page() -> None:
    run = [sys.executable, "-c", NO_PAGE]
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip() == ""


READY = """
import sys
from tornado.ioloop import PeriodicCallback
from explorer.app.pages import PAGES
from explorer.app.server import serve
first, second = (page.make.partition(":") for page in PAGES[:2])
server = serve(port=0, open=False, start=False, say=len)

def look():
    if hasattr(sys.modules.get(first[0]), first[2]):
        server.io_loop.stop()

assert first[0] not in sys.modules
PeriodicCallback(look, 50).start()
server.io_loop.start()
assert second[0] not in sys.modules
server.stop()
"""


def test_the_first_page_is_loaded_before_anybody_comes() -> None:
    run = [sys.executable, "-c", READY]
    subprocess.run(run, capture_output=True, check=True, timeout=300)
