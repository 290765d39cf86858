"""The claims of two papers, checked on the data at hand.

htf-2022 is Shaham et al., "HTF: Homogeneous Tree Framework for Differentially Private Release of
Large Geospatial Datasets", ACM TSAS 2022; grids-2013 is Qardaji, Yang and Li, "Differentially
Private Grids for Geospatial Data", ICDE 2013. Each claim is put in our words, with its place in
the paper, a figure of ours with its standard error over the seeds, and a verdict.

`claims.CLAIMS` is the table of claims, `htf` and `grids` compute them, `check.check` runs them.
"""

from explorer.papers.bench import Bench
from explorer.papers.check import check
from explorer.papers.claim import Claim
from explorer.papers.claims import CLAIMS, claims
from explorer.papers.report import Report
from explorer.papers.verdicts import Comparison, Outcome

__all__ = ["CLAIMS", "Bench", "Claim", "Comparison", "Outcome", "Report", "check", "claims"]
