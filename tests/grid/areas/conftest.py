"""The districts of Great Britain, read once for all tests of areas."""

import pytest

from explorer import Areas


@pytest.fixture(scope="session")
def great_britain(real_data):
    """380 districts in 11 regions of 3 countries."""
    return Areas.read(real_data("gb_districts.parquet"), ("country", "region", "district"))
