"""Escape text from data or a link for Markdown."""

_SPECIAL = "\\`*_{}[]()#+-.!|<>~$:&"


def escaped(text: object) -> str:
    """The text without formatting, links or HTML, whatever it contains."""
    return "".join(f"\\{c}" if c in _SPECIAL else c for c in str(text))


def bold(text: object) -> str:
    """The text in bold, escaped."""
    return f"**{escaped(text)}**"
