"""The catalogue of countries."""

import numpy as np
import pytest

from explorer.cities.countries import countries, find
from explorer.errors import InputError


def test_the_made_up_country_needs_no_file(monkeypatch, tmp_path):
    monkeypatch.setenv("EXPLORER_DATA", str(tmp_path))
    assert list(countries()) == ["nation"]
    areas = find("nation").areas()
    assert areas.levels == ("country", "region", "district")
    assert len(areas) == 165
    with pytest.raises(InputError, match="no country 'great-britain' here: choose one of nation"):
        find("great-britain")


def test_great_britain_appears_with_both_its_files(real_data, monkeypatch):
    files = [real_data(name) for name in ("gb_districts.parquet", "gb_road_accidents.parquet")]
    monkeypatch.setenv("EXPLORER_DATA", str(files[0].parent))
    known = find("great-britain")
    assert np.bincount(known.areas().level).tolist() == [1, 3, 11, 380]
    assert len(known.points()) == 140_029
