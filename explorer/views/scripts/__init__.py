"""Scripts of figures, run by a browser."""

from functools import cache
from pathlib import Path


@cache
def script(name: str) -> str:
    """The text of a script in this folder, by its name without ``.js``."""
    return (Path(__file__).parent / f"{name}.js").read_text(encoding="utf-8")
