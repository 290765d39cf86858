"""Files to read must be there; output files are refused early."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from explorer.errors import InputError


def require_file(text: str) -> None:
    """Raise `InputError` for a file to read that is not there."""
    if not _file_of(text).exists():
        raise InputError(f"There is no file {text}; check its name.")


def output_path(text: str, overwrite: bool, reads: Iterable[str | None] = ()) -> Path:
    """The path of a file to write, checked before the work begins.

    `reads` are the files that the command reads: none of them is ever replaced.

    Raises
    ------
    InputError
        For a folder that is missing or cannot be written to, for a file that is read, and for one
        that exists unless `overwrite`.
    """
    if text == "-":
        raise InputError("A file that is written needs a name, and - is none; give one.")
    path = Path(text).expanduser()
    if path.is_dir():
        raise InputError(f"{text} is a folder; give the name of a file in it.")
    for read in (_file_of(name) for name in reads if name is not None):
        if path.exists() and read.exists() and path.samefile(read):
            raise InputError(f"{text} is what is read; give the output another name.")
    if path.exists() and not overwrite:
        raise InputError(f"{text} exists already; give another name, or --overwrite.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent} for {path.name}; make it first.")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise InputError(
            f"The folder {path.parent} cannot be written to ({error.strerror}); choose another."
        ) from error
    return path


def _file_of(text: str) -> Path:
    """The file of a path behind which a layer may be named."""
    # Imported here, since it loads numpy, which help needs not.
    from explorer.grid.containers import split_layer

    return split_layer(text)[0]
