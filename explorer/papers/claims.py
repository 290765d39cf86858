"""The table of claims: what the papers say, in our words, where, and what computes our figure."""

from __future__ import annotations

from collections.abc import Iterable

from explorer.errors import InputError
from explorer.papers import grids, htf, htf_parameters
from explorer.papers.claim import Claim, claims_of

_htf, _grids = claims_of("htf-2022"), claims_of("grids-2013")

CLAIMS: tuple[Claim, ...] = (
    _htf(
        "htf-kd-trees",
        "7.2, Fig. 4",
        "HTF is clearly more accurate than kd-trees, geometric or uniform, of any height.",
        htf.beats_kd_trees,
    ),
    _htf(
        "kd-height",
        "7.2, Fig. 4",
        "The error of kd-trees has its minimum at a middle height.",
        htf.kd_trees_turn,
    ),
    _htf(
        "htf-grids",
        "7.3, Fig. 5",
        "HTF is consistently more accurate than UG and AG, with stop counts of 10, 50 and 100.",
        htf.beats_grids,
    ),
    _htf(
        "stop-50",
        "7.3, Fig. 5",
        "For small budgets a stop count around 50 is nearly the best.",
        htf.stop_50,
    ),
    _htf(
        "htf-quadtrees",
        "7.4, Fig. 6",
        "HTF is more accurate than quadtrees, geometric or uniform, of any height.",
        htf.beats_quadtrees,
    ),
    _htf(
        "quadtree-height",
        "7.4, Fig. 6",
        "The error of quadtrees falls with their height and rises again.",
        htf.quadtrees_turn,
    ),
    _htf(
        "height-rule",
        "7.4, Eq. 15",
        "The rule for HTF's height gives log2(N epsilon / 10), rounded down: 15, 16 and 17 levels "
        "for 3.5 million records and epsilon 0.1, 0.3 and 0.5.",
        htf.height_rule,
    ),
    _htf(
        "htf-all",
        "7.5, Fig. 7",
        "On the city and on Gaussian clusters HTF is more accurate than kd-trees, quadtrees, UG, "
        "AG, Privlet, Identity and Uniform.",
        htf.beats_all,
    ),
    _htf(
        "htf-sparsity",
        "7.5, Fig. 7",
        "HTF gains more over UG, AG and quadtrees where sigma is 100 than where it is 20.",
        htf.gains_with_sigma,
    ),
    _htf(
        "split-less",
        "7.5, Fig. 7",
        "Less budget for cuts (0.0005 a level in place of 0.001) does HTF good.",
        htf.less_for_cuts,
    ),
    _htf(
        "htf-fastest",
        "7.5, Fig. 8",
        "HTF takes less time than all the others.",
        htf.fastest,
    ),
    _htf(
        "split-budget",
        "7.7, Fig. 10a",
        "The error has its minimum at a middle budget for cuts: too little misses homogeneous "
        "halves, too much starves the counts.",
        htf_parameters.split_budget_turns,
    ),
    _htf(
        "rounds",
        "7.7, Fig. 10b",
        "The error has its minimum at a middle number of rounds T.",
        htf_parameters.rounds_turn,
    ),
    _htf(
        "height-low",
        "7.7, Fig. 10c",
        "Trees lower than Eq. 15 says are significantly worse.",
        htf_parameters.low_trees_hurt,
    ),
    _htf(
        "height-settles",
        "7.7, Fig. 10c",
        "From the height of Eq. 15 on the error hardly changes any more.",
        htf_parameters.height_settles,
    ),
    _htf(
        "stop-large",
        "7.7, Fig. 10d",
        "Large stop counts, beyond the noise variance 2 / epsilon^2, end the tree too early.",
        htf_parameters.large_stops_hurt,
    ),
    _htf(
        "stop-theory",
        "7.7, Fig. 10d",
        "A stop count of 10 does about as well as the thresholds of Algorithm 4.",
        htf_parameters.theory_of_stops,
    ),
    _htf(
        "scale",
        "7.7, Fig. 10e",
        "The error falls with the number of records.",
        htf_parameters.scale_helps,
    ),
    _htf(
        "scale-epsilon",
        "7.7, Fig. 10e",
        "Twice the records do what twice the epsilon does.",
        htf_parameters.scale_is_epsilon,
    ),
    _grids(
        "guideline-1",
        "IV-A, V-B, Table II",
        "UG's size by Guideline 1 is about the best there is.",
        grids.guideline_1,
    ),
    _grids(
        "guideline-1-kd",
        "V-D, Fig. 5",
        "UG of the suggested size is about as accurate as KD-hybrid.",
        grids.uniform_like_hybrid,
    ),
    _grids(
        "middle-sizes",
        "V-B, Fig. 2",
        "Relative errors are largest for queries of middle size.",
        grids.middle_sizes,
    ),
    _grids(
        "hierarchies",
        "V-B, Fig. 3",
        "Coarser grids above a uniform grid improve it, but little.",
        grids.hierarchies_help_little,
    ),
    _grids(
        "privlet-fine",
        "V-B, Fig. 3",
        "Privlet on a fine grid (360 x 360 in the paper) is clearly better than UG on it.",
        grids.privlet_on_fine_grids,
    ),
    _grids(
        "privlet-coarse",
        "V-B",
        "Privlet on a grid of 128 x 128 or less tends to be worse than UG on it.",
        grids.privlet_on_coarse_grids,
    ),
    _grids(
        "guideline-2",
        "V-C, Fig. 4, Table II",
        "AG's suggested first grid is at or close to the best.",
        grids.guideline_2,
    ),
    _grids(
        "first-grid",
        "V-C, Fig. 4",
        "AG depends less on its first grid than UG on its grid.",
        grids.adaptive_is_less_sensitive,
    ),
    _grids(
        "alpha",
        "IV-B, V-C, Fig. 4",
        "Alpha from 0.2 to 0.6 is almost the same.",
        grids.alpha_is_flat,
    ),
    _grids("alpha-75", "V-C, Fig. 4", "Alpha of 0.75 is worse than 0.5.", grids.large_alpha_hurts),
    _grids("c2", "V-C", "c2 from 3 to 7 is almost the same.", grids.c2_is_flat),
    _grids(
        "c2-large",
        "V-C, Fig. 4",
        "c2 of 5 is significantly better than 10 and 15.",
        grids.large_c2_hurts,
    ),
    _grids(
        "ag-relative",
        "V-D, Fig. 5",
        "AG of the suggested size is more accurate than UG, Privlet and KD-hybrid, by relative "
        "error.",
        grids.adaptive_wins,
    ),
    _grids(
        "ag-absolute",
        "V-D, Fig. 6",
        "The same by absolute error.",
        grids.adaptive_wins_absolutely,
    ),
)


def claims(keys: Iterable[str] | None = None, table: Iterable[Claim] = CLAIMS) -> list[Claim]:
    """The claims of these keys, or all of a table; an InputError lists the keys there are."""
    by_key = {claim.key: claim for claim in table}
    if keys is None:
        return list(by_key.values())
    chosen = list(keys)
    for key in chosen:
        if key not in by_key:
            raise InputError(f"There is no claim {key!r}: choose some of {', '.join(by_key)}.")
    return [by_key[key] for key in dict.fromkeys(chosen)]
