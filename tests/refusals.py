"""What is refused, in one line."""

import pytest

from explorer.errors import InputError


def refuses(sentence, call, *args, **how):
    """A call is refused with one line that matches; its message is returned."""
    with pytest.raises(InputError, match=sentence) as refused:
        call(*args, **how)
    assert "\n" not in str(refused.value)
    return str(refused.value)
