"""Words of this house that nobody else uses; what people read holds none of them."""

from __future__ import annotations

import re

# The field says random noise or seed, distribution, characters, recognised, half-width.
UNWANTED = re.compile(
    r"\b(dice|laws?|signs?|told|reach|thrown?|throws|desk|freeze|frozen)\b|curator mode",
    re.IGNORECASE,
)
