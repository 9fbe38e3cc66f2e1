"""How a class guessed: a bar per option."""

from __future__ import annotations

from html import escape

from dashboard.classroom.question import Tally


def tally_bars(tally: Tally) -> str:
    """Shares of a class; without colour as long as the answer is hidden, then right and wrong."""
    rows = []
    for i, (option, count) in enumerate(zip(tally.question.options, tally.counts, strict=True)):
        kind = "" if not tally.revealed else "right" if i == tally.question.right else "wrong"
        mark = "✓ " if kind == "right" else ""
        share = count / max(1, tally.guesses)
        rows.append(
            f'<div role="listitem" class="{kind}"><span>{mark}{escape(option)}</span>'
            f'<i><b style="width:{100 * share:.1f}%"></b></i>'
            f"<em>{count}</em><em>{share:.0%}</em></div>"
        )
    label = escape(f"Guesses: {tally.question.words}")
    return f'<div class="tally" role="list" aria-label="{label}">{"".join(rows)}</div>'


STYLE = """
.tally > div {
  display: grid;
  grid-template-columns: 1fr 2rem 3rem;
  gap: 0.1rem 0.25rem;
  align-items: center;
  margin-bottom: 0.25em;
  line-height: 1.2;
}
.tally span { grid-column: 1 / -1; }
.tally i { height: 0.9rem; border-radius: 3px; background: rgb(140 148 166 / 18%); }
.tally b { display: block; height: 100%; border-radius: 3px; background: #7A8296; }
.tally b { transition: width 0.4s; }
.tally em { text-align: right; font-style: normal; font-variant-numeric: tabular-nums; }
.tally .right span, .tally .right em { font-weight: 700; }
.tally .right b { background: #009E73; }
.tally .wrong b {
  background: repeating-linear-gradient(135deg, #D55E00 0 6px, transparent 6px 9px);
}
"""
