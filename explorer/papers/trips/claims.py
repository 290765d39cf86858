"""The claims of trips-2022: in our words, where they are, and what computes our figure."""

from __future__ import annotations

from explorer.papers.claim import Claim, claims_of
from explorer.papers.trips import judges

_claim = claims_of("trips-2022")

CLAIMS: tuple[Claim, ...] = (
    _claim(
        "flat-order",
        "6.2, Fig. 4a-c",
        "In two dimensions EBP and DAF-Entropy are the most accurate, ahead of DAF-Homogeneity "
        "and EUG.",
        judges.flat_order,
    ),
    _claim(
        "finest-alike",
        "6.2, Fig. 4a-c",
        "In two dimensions MKM and Identity are similar.",
        judges.finest_alike,
    ),
    _claim(
        "daf-clusters",
        "6.2, Fig. 4",
        "On Gaussian clusters of more than two axes DAF is more accurate than grids that do not "
        "look at the data.",
        judges.daf_on_clusters,
    ),
    _claim(
        "finest-clusters",
        "6.2, Fig. 4",
        "On Gaussian clusters Identity and MKM are worse by an order of magnitude.",
        judges.finest_on_clusters,
    ),
    _claim(
        "finest-zipf",
        "6.2, Fig. 5",
        "Where Zipf's law holds the proposed methods are better than Identity and MKM by an order "
        "of magnitude.",
        judges.finest_on_zipf,
    ),
    _claim(
        "skew",
        "6.2, Fig. 5",
        "The error grows with the exponent of Zipf's law.",
        judges.skew_hurts,
    ),
    _claim(
        "entropy-homogeneity",
        "6.2, 6.3, Fig. 4, 8",
        "DAF-Entropy is more accurate than DAF-Homogeneity.",
        judges.entropy_wins,
    ),
    _claim(
        "finest-real",
        "6.3, Fig. 6",
        "On real data Identity and MKM are worse by an order of magnitude.",
        judges.finest_on_places,
    ),
    _claim(
        "larger-boxes",
        "6.3, Fig. 6",
        "Errors fall as boxes grow: boxes around trips.",
        judges.larger_boxes_near,
    ),
    _claim(
        "larger-boxes-anywhere",
        "6.3, Fig. 6",
        "Errors fall as boxes grow: boxes anywhere, as the paper has them.",
        judges.larger_boxes_anywhere,
    ),
    _claim(
        "eug-poor",
        "6.3, Fig. 7",
        "On real places EUG is less accurate than EBP and DAF.",
        judges.eug_is_poor,
    ),
    _claim(
        "budget",
        "6.3, Fig. 7",
        "The errors of all methods fall as the budget grows.",
        judges.budget_helps,
    ),
    _claim(
        "daf-trips",
        "6.3, Fig. 8",
        "On real trips of four axes and more DAF is more accurate than EUG and EBP.",
        judges.daf_on_trips,
    ),
    _claim(
        "daf-mkm",
        "6.3, Fig. 6, 8",
        "On real trips of four axes and more DAF is more accurate than MKM.",
        judges.daf_and_mkm,
    ),
    _claim(
        "gain-axes",
        "6.3, Fig. 8",
        "The more axes, the more DAF gains over grids.",
        judges.gain_with_axes,
    ),
    _claim(
        "daf-fast",
        "6.3, Table 3",
        "DAF takes less time than EUG and EBP.",
        judges.daf_is_fast,
    ),
)
