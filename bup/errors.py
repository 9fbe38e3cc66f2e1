"""The error that users can act on."""


class BupError(ValueError):
    """An error that the user can correct.

    The message is one sentence: what was wrong, the value received, and what to do. The command
    line prints it as one line; a page shows it in place of a chart.
    """
