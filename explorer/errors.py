"""The one error a person is meant to read."""


class InputError(ValueError):
    """What was given cannot be used; one sentence says what was wrong and what to do.

    The app shows the message as it is and the command line prints it without a traceback, so it
    is written for a reader who does not know the code.

    Examples
    --------
    >>> from explorer import Grid, InputError
    >>> try:
    ...     Grid.around(52.52, 134.0, "20km")
    ... except InputError as refusal:
    ...     print(refusal)
    Longitude 52.52, latitude 134 is not a place on the Earth; give the centre in degrees, longitude
    first.
    """
