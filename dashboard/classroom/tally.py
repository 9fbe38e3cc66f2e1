"""How a class guessed: a bar per option."""

from html import escape

from dashboard.classroom.question import Tally


def tally_bars(tally: Tally) -> str:
    """Shares of a class; without colour as long as the answer is hidden, then right and wrong.

    Thin bars are the first vote.
    """
    rows, hidden = [], not tally.revealed or tally.question.right is None
    before = tally.before or (0,) * len(tally.counts)
    parts = zip(tally.question.options, tally.counts, before, strict=True)
    for i, (option, count, first) in enumerate(parts):
        kind = "" if hidden else "right" if i == tally.question.right else "wrong"
        mark = "✓ " if kind == "right" else ""
        share = count / max(1, tally.guesses)
        thin = f'<u style="width:{100 * first / max(1, sum(before)):.1f}%"></u>'
        rows.append(
            f'<div role="listitem" class="{kind}"><span>{mark}{escape(option)}</span>'
            f'<i><b style="width:{100 * share:.1f}%"></b>{thin if tally.before else ""}</i>'
            f"<em>{count}</em><em>{share:.0%}</em></div>"
        )
    label = escape(f"Guesses: {tally.question.words}")
    return f'<div class="tally" role="list" aria-label="{label}">{"".join(rows)}</div>'
