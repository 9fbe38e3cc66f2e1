"""Text from data or a link, made harmless for Markdown."""

_SPECIAL = "\\`*_{}[]()#+-.!|<>~$:&"


def escaped(text: object) -> str:
    """The text itself, whatever it contains: no formatting, no links, no HTML."""
    return "".join(f"\\{c}" if c in _SPECIAL else c for c in str(text))
