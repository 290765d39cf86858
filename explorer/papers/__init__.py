"""The claims of two papers, checked on the data at hand.

htf-2022 is Shaham et al., "HTF: Homogeneous Tree Framework for Differentially Private Release of
Large Geospatial Datasets", ACM TSAS 2022; grids-2013 is Qardaji, Yang and Li, "Differentially
Private Grids for Geospatial Data", ICDE 2013. Each claim is put in our words, with its place in
the paper, a figure of ours with its standard error over the seeds, and a verdict.

Each judge in `htf` and `grids` is a claim, `check.check` runs them.
"""

from explorer.papers.bench import Bench
from explorer.papers.check import CLAIMS, check, claims
from explorer.papers.report import Claim, Report
from explorer.papers.verdicts import Comparison, Outcome

__all__ = ["CLAIMS", "Bench", "Claim", "Comparison", "Outcome", "Report", "check", "claims"]
