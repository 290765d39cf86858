"""What the paper on origin-destination matrices (trips-2022) claims, checked on trips at hand.

trips-2022 is Shaham, Ghinita and Shahabi, "Differentially-Private Publication of Origin-Destination
Matrices with Intermediate Stops", EDBT 2022. The frame is that of `explorer.papers`:
`claims.CLAIMS` is the table of claims, `judges` and `order` compute them, `data` makes or reads the
trips, `bench` draws releases of them, `figures` shows Figures 4, 5, 7, 8 and Table 3 in form, and
`reference` compares with figures of another program.
"""

from explorer.papers.trips.bench import TripBench
from explorer.papers.trips.claims import CLAIMS
from explorer.papers.trips.figures import FIGURES, ask, tables
from explorer.papers.trips.reference import compare

__all__ = ["CLAIMS", "FIGURES", "TripBench", "ask", "compare", "tables"]
