"""PrivTree (Zhang, Xiao, Xie, SIGMOD 2016)."""

from __future__ import annotations

from typing import ClassVar

import param

from explorer.mechanisms.base import Mechanism
from explorer.mechanisms.options import inference_option, inside_option
from explorer.privacy.curator import Curator
from explorer.releases.inference import Estimate
from explorer.releases.units import share


class PrivTree(Mechanism):
    """A quadtree of any depth for one price, its leaves counted with the rest.

    The structure comes from biased noisy scores, see `Curator.privtree`; they are not published.
    Leaf counts have a share of their own and are not clipped at zero, which would make large areas
    far too full.
    """

    key: ClassVar[str] = "privtree"
    title: ClassVar[str] = "PrivTree"
    summary: ClassVar[str] = "A quadtree that goes as deep as the data for one price."
    paper: ClassVar[str] = "Zhang, Xiao, Xie, SIGMOD 2016"

    structure_share = param.Number(
        default=0.5,
        bounds=(0.05, 0.95),
        step=0.05,
        label="Share for the structure",
        doc="Part of the budget that decides where to quarter; the rest counts the leaves.",
    )

    inference = inference_option("leaves")
    inside = inside_option()

    def plan(self, curator: Curator) -> Estimate:
        """Structure, then one count a leaf."""
        root = curator.open()
        leaves = curator.privtree(root, share(curator.units, self.structure_share))
        curator.count(leaves, curator.remaining(leaves), "leaves")
        return self.infer(curator.transcript(), ["leaves"])
