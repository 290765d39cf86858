"""The entry for the public registry has the keys of its template, and invents nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from explorer.publish.about import About
from explorer.publish.registry import entry
from tests.publish.folders import ABOUT, drawn, published

#: The keys of the registry's complete template, by hand, as of 2026-11. Where it has a list or a
#: table of sources, their keys stand behind a star.
TEMPLATE = {
    "": """
        url_slug
    """,
    "deployment.basic": """
        name data_curators.*.data_curator_name data_curators.*.data_curator_type description
        intended_use data_product_type data_product_region data_product_sector publication_date
    """,
    "deployment.dp_variant": """
        variant_name data_domain unprotected_quantities
    """,
    "deployment.privacy_loss": """
        privacy_unit privacy_unit_details number_of_privacy_units privacy_parameters.epsilon
        privacy_parameters_details
    """,
    "deployment.deployment_model": """
        model_name model_name_details trust_assumptions actors release_type release_type_details
        data_source_type data_source_type_details access_type access_type_details
    """,
    "deployment.implementation": """
        preprocessing_and_hyperparameter_tuning mechanisms composition post_processing
        justification utility additional_information
    """,
    "deployment.administrative": """
        evidence_sources.*.evidence_source_type evidence_sources.*.article.note status
        registry_authors.* tier
    """,
}


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
    wanted = [
        f"{group}.{name}".lstrip(".") for group, names in TEMPLATE.items() for name in names.split()
    ]
    assert sorted(keys(entry(published(drawn("htf"))))) == sorted(wanted)


def test_markup_of_a_person_is_text() -> None:
    about = About.of({**ABOUT.facts(), "curator": "<b>[x](javascript:a())</b> `c` &lt;"})
    name = entry(published(about=about))["deployment"]["basic"]["data_curators"][0]
    assert not set("<>[]`") & set(name["data_curator_name"])
    assert "&lt;" not in name["data_curator_name"]
