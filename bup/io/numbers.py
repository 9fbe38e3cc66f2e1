"""Numbers as text, as ``dashboard/components/shared/numbers.js`` writes them in the browser."""


def percent(share: float, digits: int = 1) -> str:
    """A probability as a percentage: never 0%, and 100% only if it is 1."""
    text = f"{share:.{digits}%}"
    under, over = ("<", ">") if digits else ("under ", "over ")
    step = 10.0**-digits
    if text == f"{0:.{digits}%}":
        return f"{under}{step:.{digits}f}%"
    if text == f"{1:.{digits}%}" and share < 1:
        return f"{over}{100 - step:.{digits}f}%"
    return text
