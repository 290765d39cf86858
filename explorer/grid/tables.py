"""Tables that other libraries read: sheets of Excel and OpenDocument, DuckDB, Arrow."""

from __future__ import annotations

import io
from typing import Any

from explorer.errors import InputError
from explorer.grid import containers
from explorer.grid.containers import Content

_EXCEL = (
    "Spreadsheets need python-calamine, which is not installed; run pip install "
    "'dp-explorer[excel]', or save the sheet as CSV."
)


def read_table(content: Content) -> Any:
    """A table as a frame of pandas or a table of Arrow.

    Raises
    ------
    InputError
        For a file that is damaged, for several sheets or tables of which none is named, and where
        the library that reads it is not installed.
    """
    if content.kind == containers.SHEETS:
        return _read_sheet(content)
    if content.kind == containers.DUCKDB:
        return _read_duckdb(content)
    import pyarrow as pa

    file = content.file
    try:
        opened = pa.BufferReader(file) if isinstance(file, bytes) else pa.OSFile(str(file))
        with pa.ipc.open_file(opened) as batches:
            return batches.read_all()
    except (pa.ArrowException, OSError) as error:
        raise _damaged("Arrow") from error


def _read_sheet(content: Content) -> Any:
    try:
        import python_calamine
    except ImportError as error:
        raise InputError(_EXCEL) from error
    import pandas

    file = io.BytesIO(content.file) if isinstance(content.file, bytes) else str(content.file)
    try:
        with python_calamine.load_workbook(file) as book:
            sheets = {}
            for name in [content.layer] if content.layer in book.sheet_names else book.sheet_names:
                rows = book.get_sheet_by_name(name).to_python(skip_empty_area=True)
                if rows:
                    sheets[name] = rows
            names = list(book.sheet_names)
    except (python_calamine.CalamineError, OSError, ValueError) as error:
        raise _damaged("spreadsheet") from error
    if content.layer and content.layer not in names:
        raise InputError(
            f"There is no sheet {content.layer!r} in this file; there are "
            f"{containers.as_list(names)}."
        )
    if not sheets:
        raise InputError("This spreadsheet is empty; give the sheet with the records.")
    if len(sheets) > 1:
        raise containers.several("sheets", sheets)
    ((first, *rows),) = sheets.values()
    titles = [title for title in first if title != ""]
    if not titles or sum(not isinstance(title, str) for title in titles) > 1:
        raise InputError(
            "The first row of this sheet holds numbers or dates; begin it with the names of the "
            "columns, such as lon, lat."
        )
    columns = {str(title): at for at, title in enumerate(first) if title != ""}
    if len(columns) < len(titles):
        raise InputError("Two columns of this sheet have one name; rename one of them.")
    return pandas.DataFrame(
        {title: _values([row[at] for row in rows]) for title, at in columns.items()}
    )


def _values(cells: list[Any]) -> Any:
    """A column: whole numbers as such, an empty cell as none."""
    import pandas

    plain = [
        None if cell == "" else int(cell) if isinstance(cell, float) and cell.is_integer() else cell
        for cell in cells
    ]
    return pandas.Series(plain, dtype=object).infer_objects()


def _read_duckdb(content: Content) -> Any:
    if isinstance(content.file, bytes):
        raise InputError(
            "A file of DuckDB is read on its own computer only; write the table as Parquet: COPY "
            "points TO 'points.parquet'."
        )
    try:
        import duckdb
    except ImportError as error:
        raise InputError(
            "Files of DuckDB need duckdb, which is not installed; run pip install duckdb, or write "
            "the table as Parquet: COPY points TO 'points.parquet'."
        ) from error
    # Nothing in the file reads another file, fetches an address or loads an extension.
    closed: dict[str, str | bool | int | float | list[str]] = {
        "enable_external_access": "false",
        "autoload_known_extensions": "false",
        "autoinstall_known_extensions": "false",
        "lock_configuration": "true",
    }
    try:
        with duckdb.connect(str(content.file), read_only=True, config=closed) as opened:
            schema = opened.sql(
                "SELECT table_name, table_type FROM information_schema.tables "
                "WHERE table_schema = 'main' ORDER BY table_name"
            ).fetchall()
            tables = [str(name) for name, kind in schema if kind == "BASE TABLE"]
            if content.layer and content.layer not in tables:
                raise InputError(
                    f"There is no table {content.layer!r} in this file; there are "
                    f"{containers.as_list(tables) or 'none'}."
                )
            if not tables:
                raise InputError("This file of DuckDB holds no table; write one, not a view.")
            if not content.layer and len(tables) > 1:
                raise containers.several("tables", tables)
            return opened.table(_quoted(content.layer or tables[0])).to_arrow_table()
    except duckdb.Error as error:
        raise _damaged("DuckDB") from error


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _damaged(kind: str) -> InputError:
    return InputError(
        f"This file could not be read as {kind}; it may be damaged or locked by a password: export "
        "or download it again."
    )
