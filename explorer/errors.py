"""The one error a person is meant to read."""


class InputError(ValueError):
    """What was given cannot be used; one sentence says what was wrong and what to do.

    The app shows the message as it is and the command line prints it without a traceback, so it
    is written for a reader who does not know the code.
    """
