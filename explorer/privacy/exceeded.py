"""What a curator raises where a budget is not enough; it loads nothing, so that all may name it."""

from __future__ import annotations


class BudgetExceeded(RuntimeError):
    """A measurement would have cost more than is left; nothing was drawn."""
