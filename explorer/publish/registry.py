"""An entry of tier 3 for the public registry of deployments, as a draft.

The registry's names change now and then. So every key is in one table, and a test compares
them with a pinned list of the registry's own template. What cannot be known comes from `About`;
anyone who publishes reads the draft and sends it, or does not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from explorer.publish.geotiff import equal_area
from explorer.publish.manifest import citation
from explorer.publish.published import Published
from explorer.releases.units import to_epsilon
from explorer.views.texts import texts_of

_WORDS = Path(__file__).parent / "words" / "registry.md"
# Markdown and HTML have no business in what a person typed.
_MARKUP = str.maketrans({"<": "‹", ">": "›", "`": "'", "[": "(", "]": ")", "|": "/", "*": "·"})

#: A heading of the words, or what finds the value.
Source = str | Callable[[Published], Any]


def slug(published: Published) -> str:
    """The title and the year as an address has them."""
    folded = unicodedata.normalize("NFKD", published.about.title).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", folded.lower()) or ["map"]
    return "_".join([*words, published.booking.date[:4]])[:80]


def plain(text: str) -> str:
    """What a person typed, as text that Markdown and HTML leave as it is."""
    return re.sub(r"&(?=#|\w+;)", "+", " ".join(text.split()).translate(_MARKUP))


def _evidence(published: Published) -> dict[str, Any]:
    """The paper of the mechanism, where it is one."""
    paper = published.method.paper
    if not re.search(r"\d{4}", paper):
        return {}
    return {
        "mechanism": {
            "evidence_source_type": "Peer-reviewed publication",
            "article": {"note": f"{published.method.title}: {paper}"},
        }
    }


#: Every key of an entry, in its order, with what fills it in.
TABLE: Mapping[str, Source] = {
    "url_slug": slug,
    "deployment.basic.name": lambda p: plain(p.about.title),
    "deployment.basic.data_curators": lambda p: [
        {
            "data_curator_name": plain(p.about.curator),
            "data_curator_type": p.about.curator_type,
        }
    ],
    "deployment.basic.description": "description",
    "deployment.basic.intended_use": lambda p: plain(p.about.use),
    "deployment.basic.data_product_type": lambda _: "Summary statistics",
    "deployment.basic.data_product_region": lambda p: plain(p.about.region),
    "deployment.basic.data_product_sector": lambda p: p.about.sector,
    "deployment.basic.publication_date": lambda p: p.booking.date,
    "deployment.dp_variant.variant_name": lambda _: "Pure DP",
    "deployment.dp_variant.data_domain": "data_domain",
    "deployment.dp_variant.unprotected_quantities": "unprotected_quantities",
    "deployment.privacy_loss.privacy_unit": "unit {unit}",
    "deployment.privacy_loss.privacy_unit_details": "unit details {unit}",
    "deployment.privacy_loss.number_of_privacy_units": lambda _: 1,
    "deployment.privacy_loss.privacy_parameters.epsilon": lambda p: p.release.epsilon,
    "deployment.privacy_loss.privacy_parameters_details": "parameters",
    "deployment.deployment_model.model_name": lambda _: "Central",
    "deployment.deployment_model.model_name_details": "model",
    "deployment.deployment_model.trust_assumptions": "trust",
    "deployment.deployment_model.actors": "actors",
    "deployment.deployment_model.release_type": lambda p: (
        "Many releases" if p.booking.spent_before else "One release"
    ),
    "deployment.deployment_model.release_type_details": "{releases}",
    "deployment.deployment_model.data_source_type": lambda _: "Static",
    "deployment.deployment_model.data_source_type_details": "source",
    "deployment.deployment_model.access_type": lambda _: "Non-interactive",
    "deployment.deployment_model.access_type_details": "access",
    "deployment.implementation.preprocessing_and_hyperparameter_tuning": "preprocessing",
    "deployment.implementation.mechanisms": "mechanisms",
    "deployment.implementation.composition": "composition",
    "deployment.implementation.post_processing": "post_processing",
    "deployment.implementation.justification": lambda p: plain(p.about.why),
    "deployment.implementation.utility": "utility",
    "deployment.implementation.additional_information": "additional",
    "deployment.administrative.evidence_sources": _evidence,
    "deployment.administrative.status": lambda _: "Draft",
    "deployment.administrative.registry_authors": lambda p: [plain(p.about.curator)],
    "deployment.administrative.tier": lambda _: 3,
}


def entry(published: Published) -> dict[str, Any]:
    """The entry of a release, nested as the registry has it."""
    texts, facts = texts_of(_WORDS), _facts(published)
    result: dict[str, Any] = {}
    for path, source in TABLE.items():
        *above, last = path.split(".")
        place = result
        for name in above:
            place = place.setdefault(name, {})
        if isinstance(source, str):
            place[last] = texts[source.format(**facts)].format(**facts).strip()
        else:
            place[last] = source(published)
    return result


def as_text(entry: Mapping[str, Any]) -> str:
    """An entry as the registry's files are: YAML, texts in lines."""
    return yaml.safe_dump(dict(entry), allow_unicode=True, sort_keys=False, width=100)


def _facts(published: Published) -> dict[str, Any]:
    """What the words are filled in with: numbers as people read them, texts without markup."""
    release, grid, about = published.release, published.release.grid, published.about
    texts, sd = texts_of(_WORDS), published.release.sd
    bound = release.contribution_bound
    assert grid.crs is not None
    return {
        "region": plain(about.region),
        "record": plain(about.record),
        "curator": plain(about.curator),
        "cleaning": plain(about.cleaning),
        "licence": plain(about.licence),
        "leaves": f"{release.n_leaves:,}",
        "rows": f"{grid.shape[0]:,}",
        "columns": f"{grid.shape[1]:,}",
        "width": f"{grid.cell_width:,.4g}",
        "height": f"{grid.cell_height:,.4g}",
        "crs": plain(_crs_name(grid.crs)),
        "unit": release.unit,
        "bound": bound,
        "bounding": texts[f"bounding {release.unit}"].format(bound=bound),
        "tuned": texts[f"tuned {about.tuned}"],
        "stages": ", ".join(f"{row.stage} {row.epsilon:.6g}" for row in release.ledger),
        "time": published.booking.time,
        "before": f"{to_epsilon(published.booking.spent_before):.12g}",
        "spent": f"{published.spent_after:.12g}",
        "releases": "many releases" if published.booking.spent_before else "one release",
        "method": published.method.title,
        "summary": published.method.summary.rstrip("."),
        "paper": published.method.paper,
        "opendp": metadata.version("opendp"),
        "inference": texts["inference linear" if release.linear else "inference not linear"],
        "least": f"{sd.min():,.4g}",
        "median": f"{np.median(sd):,.4g}",
        "most": f"{sd.max():,.4g}",
        "citation": plain(citation(published)),
    }


def _crs_name(crs: Any) -> str:
    if crs.to_epsg() is not None:
        return f"EPSG:{crs.to_epsg()}"
    projection = equal_area(crs)
    if projection is None:
        return str(crs.name)
    lon, lat, *_ = projection
    return f"Lambert's azimuthal equal-area projection on longitude {lon:g}, latitude {lat:g}"
