"""The errors that a person can act on."""


class BupError(ValueError):
    """Something asked of us cannot be done.

    The message is one sentence for the person who asked: what was wrong, the value received, and
    what to do. The command line prints it as one line; a page shows it in place of a chart.
    """
