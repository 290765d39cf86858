"""The entry for the public registry has the keys of its template, and invents nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import yaml

from explorer.publish.about import About
from explorer.publish.registry import TABLE, as_text, entry
from tests.publish.folders import ABOUT, drawn, published

#: The keys of the registry's complete template, by hand, as of 2026-11. Where it has a list or a
#: table of sources, their keys stand behind a star.
TEMPLATE = [
    "url_slug",
    "deployment.basic.name",
    "deployment.basic.data_curators.*.data_curator_name",
    "deployment.basic.data_curators.*.data_curator_type",
    "deployment.basic.description",
    "deployment.basic.intended_use",
    "deployment.basic.data_product_type",
    "deployment.basic.data_product_region",
    "deployment.basic.data_product_sector",
    "deployment.basic.publication_date",
    "deployment.dp_variant.variant_name",
    "deployment.dp_variant.data_domain",
    "deployment.dp_variant.unprotected_quantities",
    "deployment.privacy_loss.privacy_unit",
    "deployment.privacy_loss.privacy_unit_details",
    "deployment.privacy_loss.number_of_privacy_units",
    "deployment.privacy_loss.privacy_parameters.epsilon",
    "deployment.privacy_loss.privacy_parameters_details",
    "deployment.deployment_model.model_name",
    "deployment.deployment_model.model_name_details",
    "deployment.deployment_model.trust_assumptions",
    "deployment.deployment_model.actors",
    "deployment.deployment_model.release_type",
    "deployment.deployment_model.release_type_details",
    "deployment.deployment_model.data_source_type",
    "deployment.deployment_model.data_source_type_details",
    "deployment.deployment_model.access_type",
    "deployment.deployment_model.access_type_details",
    "deployment.implementation.preprocessing_and_hyperparameter_tuning",
    "deployment.implementation.mechanisms",
    "deployment.implementation.composition",
    "deployment.implementation.post_processing",
    "deployment.implementation.justification",
    "deployment.implementation.utility",
    "deployment.implementation.additional_information",
    "deployment.administrative.evidence_sources.*.evidence_source_type",
    "deployment.administrative.evidence_sources.*.article.note",
    "deployment.administrative.status",
    "deployment.administrative.registry_authors.*",
    "deployment.administrative.tier",
]


def keys(value: Any, path: str = "") -> Iterator[str]:
    """The paths of all values; names of sources and places in lists are stars."""
    if isinstance(value, dict):
        star = path.endswith("evidence_sources")
        for name, each in value.items():
            yield from keys(each, f"{path}.{'*' if star else name}".lstrip("."))
    elif isinstance(value, list):
        for each in value:
            yield from keys(each, f"{path}.*")
    else:
        yield path


def test_an_entry_has_the_keys_of_the_template_and_no_other() -> None:
    assert sorted(keys(entry(published(drawn("htf"))))) == sorted(TEMPLATE)


def test_the_table_in_code_is_the_only_place_of_keys() -> None:
    found = {key.partition(".*")[0] for key in keys(entry(published(drawn("htf"))))}
    assert found == set(TABLE)


@pytest.mark.parametrize("key", ["htf", "mosaic", "quadtree"])
def test_an_entry_is_a_draft_that_says_something_everywhere(key) -> None:
    said = entry(published(drawn(key)))
    text = as_text(said)
    assert yaml.safe_load(text) == said
    administrative = said["deployment"]["administrative"]
    assert (administrative["status"], administrative["tier"]) == ("Draft", 3)
    empty = [path for path in keys(said) if not _at(said, path)]
    assert empty == []
    # Mosaic is this project's own: there is no publication to name.
    assert bool(administrative["evidence_sources"]) == (key != "mosaic")
    assert "{" not in text.replace("evidence_sources: {}", "")


def _at(said: Any, path: str) -> Any:
    for name in path.split("."):
        if name == "*":
            said = next(iter(said.values() if isinstance(said, dict) else said))
        else:
            said = said[name]
    return said


def test_what_a_person_says_is_said_and_nothing_else_is_known() -> None:
    deployment = entry(published())["deployment"]
    assert deployment["basic"]["data_curators"][0]["data_curator_name"] == ABOUT.curator
    assert deployment["implementation"]["justification"] == ABOUT.why
    assert "no setting was chosen" in deployment["dp_variant"]["unprotected_quantities"]
    tuned = entry(published(about=replace(ABOUT, tuned="yes")))["deployment"]
    assert "not covered by epsilon" in tuned["dp_variant"]["unprotected_quantities"]
    first = published()
    again = replace(first.booking, spent_before=5 * 10**11)
    many = entry(published(booking=again))["deployment"]
    assert deployment["deployment_model"]["release_type"] == "One release"
    assert many["deployment_model"]["release_type"] == "Many releases"
    assert "epsilon 1.5" in many["deployment_model"]["release_type_details"]


def test_markup_of_a_person_is_text() -> None:
    about = About.of({**ABOUT.facts(), "curator": "<b>[x](javascript:a())</b> `c` &lt;"})
    name = entry(published(about=about))["deployment"]["basic"]["data_curators"][0]
    assert not set("<>[]`") & set(name["data_curator_name"])
    assert "&lt;" not in name["data_curator_name"]
