"""How a class guessed: a bar per option."""

from html import escape

from dashboard.classroom.question import Tally


def tally_bars(tally: Tally) -> str:
    """Shares of a class; without colour as long as the answer is hidden, then right and wrong."""
    rows, hidden = [], not tally.revealed or tally.question.right is None
    for i, (option, count) in enumerate(zip(tally.question.options, tally.counts, strict=True)):
        kind = "" if hidden else "right" if i == tally.question.right else "wrong"
        mark = "✓ " if kind == "right" else ""
        share = count / max(1, tally.guesses)
        rows.append(
            f'<div role="listitem" class="{kind}"><span>{mark}{escape(option)}</span>'
            f'<i><b style="width:{100 * share:.1f}%"></b></i>'
            f"<em>{count}</em><em>{share:.0%}</em></div>"
        )
    label = escape(f"Guesses: {tally.question.words}")
    return f'<div class="tally" role="list" aria-label="{label}">{"".join(rows)}</div>'
