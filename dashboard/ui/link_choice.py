"""Select boxes and segmented controls whose choice is part of the link."""

from collections.abc import Callable, Mapping
from typing import Any


def link_choice(
    widget: Callable[..., Any], label: str, titles: Mapping[Any, str], key: str, **options: Any
) -> Any:
    """Draw ``widget`` with these options; returns the chosen key of ``titles``.

    ``key`` is the parameter in the link, whose value is the title.
    """
    return widget(
        label,
        list(titles),
        key=key,
        format_func=titles.__getitem__,
        bind="query-params",
        **options,
    )
