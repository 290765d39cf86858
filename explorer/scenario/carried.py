"""One workspace for several pages: what a scenario of one page is on another, and back."""

from __future__ import annotations

from dataclasses import replace

from explorer.scenario.kinds import Kind, kind_of
from explorer.scenario.model import Scenario
from explorer.scenario.parts import Choice

#: The pages about a city's points; trips and countries have other data, and nothing to share.
SHARING = ("explore", "compare", "learn", "federated")
_PLACE = ("city", "side", "contribution_bound", "boxes")
_NOISE = ("epsilon", "seed")


def carried(shared: Scenario, page: str, own: Scenario | None = None) -> Scenario:
    """What ``page`` shows of a scenario of another page.

    City, grid, protected unit, epsilon, seed, boxes and the first mechanism are taken as far as the
    page has such; the rest is that of ``own``.

    Parameters
    ----------
    shared : Scenario
        Of one of the pages `SHARING`.
    page : one of `SHARING`
    own : Scenario, optional
        The last screen of that page; without it the page begins as it does.

    Examples
    --------
    >>> one = Scenario(mechanisms=["ug"], epsilon=0.5, boxes=[(0, 0, 900, 900)])
    >>> there = carried(one, "compare")
    >>> [choice.key for choice in there.mechanisms], there.epsilon, len(there.boxes)
    (['ug', 'mosaic'], 0.5, 1)
    """
    kind = kind_of(page)
    if own is None or own.page != page:
        own = Scenario(page=page, look=shared.look if shared.kind is kind else None)  # type: ignore[arg-type]
    return replace(
        own,
        city=shared.city,
        side=shared.side if shared.side in kind.options("side") else own.side,
        contribution_bound=_bound(shared, kind),
        epsilon=shared.epsilon,
        seed=own.seed if shared.seed is None else shared.seed,
        boxes=shared.boxes,
        mechanisms=_first(shared, own),
        title="",
        about="",
    )


def given_back(
    shared: Scenario | None, shown: Scenario | None, now: Scenario, *, place: bool = True
) -> Scenario:
    """What all pages share once a page that showed ``shown`` of it has come to ``now``.

    What a page did not change, perhaps because it has no such choice, stays as it was.

    Parameters
    ----------
    shared : what there was; None for nothing
    shown : what the page made of it, see `carried`
    now : of the same page
    place : whether the city counts, which it does not where a visitor's own data are shown

    Examples
    --------
    >>> shared = Scenario(contribution_bound=5, mechanisms=["ug"])
    >>> shown = carried(shared, "federated")
    >>> shown.contribution_bound
    0
    >>> back = given_back(shared, shown, replace(shown, epsilon=2.0))
    >>> back.contribution_bound, back.epsilon, back.mechanisms[0].key
    (5, 2.0, 'ug')
    """
    if shared is None or shown is None:
        before = shared or Scenario(city=now.city)
        new = carried(now, "explore", before)
        return new if place else replace(new, **{n: getattr(before, n) for n in _PLACE})
    names = (*_PLACE, *_NOISE) if place else _NOISE
    moved = {n: getattr(now, n) for n in names if getattr(now, n) != getattr(shown, n)}
    if "city" in moved:
        moved |= {name: getattr(now, name) for name in _PLACE}
    before = carried(shared, "explore", shared if shared.page == "explore" else None)
    return replace(before, mechanisms=_first(now, before), **moved)


def _bound(shared: Scenario, kind: Kind) -> int:
    return shared.contribution_bound if shared.contribution_bound in kind.options("bound") else 0


def _first(shared: Scenario, target: Scenario) -> tuple[Choice, ...]:
    """The mechanisms of ``target`` with the first of another screen of the same kind."""
    if shared.kind is not target.kind or "learn" in (shared.page, target.page):
        return target.mechanisms
    return (
        *shared.mechanisms[: len(target.mechanisms)],
        *target.mechanisms[len(shared.mechanisms) :],
    )
