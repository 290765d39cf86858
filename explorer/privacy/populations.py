"""Names of populations as the ledger's callers need them, see `points.populations`."""

from explorer.points.populations import (
    population_name,
    population_of_file,
    population_of_records,
    populations_of_files,
)

__all__ = [
    "population_name",
    "population_of_file",
    "population_of_records",
    "populations_of_files",
]
