"""Where golden values are kept, and how they are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
NUMBERS, FILES, TEXTS = HERE / "numbers", HERE / "files", HERE / "texts"


def read(path: Path) -> dict[str, Any]:
    """Golden values by their names; none without a file."""
    return json.loads(path.read_text("utf8")) if path.exists() else {}


def write(path: Path, values: dict[str, Any]) -> None:
    """Keep golden values, one a line, so that a difference can be read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (
        f"{json.dumps(name)}:{json.dumps(value, separators=(',', ':'), ensure_ascii=False)}"
        for name, value in values.items()
    )
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf8")
