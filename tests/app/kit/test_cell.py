import panel as pn
import pytest

from explorer.app.kit.page import laid_out, pixels
from explorer.errors import InputError


@pytest.mark.parametrize("height", ["700", 700, "5px", "99999px", "70em", "", "-300px", None])
def test_heights_that_are_none_are_refused(height) -> None:
    with pytest.raises(InputError, match='such as "700px"'):
        pixels(height)


def test_without_a_drawer_and_a_height_a_cell_is_the_page() -> None:
    page = pn.Column()
    assert laid_out([], page) is page


def test_a_narrow_cell_has_the_page_above_its_drawer() -> None:
    drawer, page = pn.Column(), pn.Column()
    whole = laid_out([drawer], page)
    side, main = whole
    assert side[0] is drawer
    assert main[0] is page
    assert whole.styles["flex-wrap"] == "wrap-reverse"


def test_maps_take_the_height_of_the_cell_for_that_of_the_window() -> None:
    whole = laid_out([], pn.Column(), 640)
    assert whole.styles == {"height": "640px", "overflow-y": "auto"}
    assert "--explorer-window: 640px" in whole.stylesheets[0]
