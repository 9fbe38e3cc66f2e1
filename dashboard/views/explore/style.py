"""How Explore is laid out: the map owns the window, and what is said of a node stands beside it."""

from __future__ import annotations

# Where there is room for both, nothing of the page scrolls: a panel that is too long does.
STYLE = """
.stMainBlockContainer:has(.st-key-explore) { padding: 3.1rem 1rem 0; }
.st-key-explore { --bup-map-height: 68dvh; --bup-ego-height: 46dvh; }
.st-key-explore_bar { gap: 0.25rem 0.4rem; }
.st-key-explore_bar h1 { font-size: clamp(0.9rem, 1.25vw, 1rem); padding: 0; line-height: 1.2; }
.st-key-explore_bar > :has(.stSelectbox) {
  flex: 1 1 10.5rem;
  width: auto !important;
  max-width: 13rem;
}
.st-key-explore_node h2 { font-size: 1.05rem; padding: 0; overflow-wrap: anywhere; }
.st-key-explore_node { font-size: 0.9rem; gap: 0.75rem; }
.st-key-explore_node [data-testid="stMarkdownContainer"] { font-size: 0.9rem; line-height: 1.35; }
.st-key-explore_node [data-testid="stCaptionContainer"] p { font-size: 0.8rem; line-height: 1.35; }
.st-key-explore_node [data-testid="stMetricValue"] { font-size: 1.1rem; }
.st-key-tab div:has(> button) { flex-wrap: nowrap; }
.st-key-tab button { padding: 0.2rem 0.1rem; min-height: 2rem; min-width: 0; }
.st-key-tab button p { font-size: 0.8rem; }
.st-key-explore_tab { gap: 0.5rem; }
.st-key-explore_node [class*="st-key-story_"] button {
  justify-content: flex-start;
  text-align: left;
  padding: 0.5rem 0.8rem;
}
.st-key-explore_node [class*="st-key-story_"] strong { display: block; }
.st-key-explore_node [class*="st-key-story_"] [data-testid="stIconMaterial"] {
  font-size: 1.6rem;
  margin-right: 0.35rem;
  color: var(--st-primary-color);
}
.st-key-explore_change { flex-wrap: nowrap; }
.st-key-explore_change > :first-child { flex: 1 1 auto; width: auto !important; }
.st-key-explore_node .classes { font-size: 0.8rem; }
.st-key-explore_node .classes .plot { height: 1.6rem; }
.st-key-explore_node .classes tbody th { min-width: 8.4rem; }
.st-key-explore_node .classes th { font-size: 0.75rem; line-height: 1; }
.st-key-explore_node .katex { font-size: 1em; }
.st-key-explore_node .facts { margin: 0; font-size: 0.8rem; line-height: 1.35; }
@media (max-width: 640px) {
  .st-key-explore_bar > :first-child { flex-basis: 100%; }
}
@media (max-width: 1500px) {
  .st-key-explore_bar .stPopover button [data-testid="stMarkdownContainer"] {
    position: absolute;
    width: 1px;
    overflow: hidden;
    clip-path: inset(50%);
  }
  .st-key-explore_bar .stPopover button { padding: 0.25rem 0.7rem; }
  .st-key-explore_bar .stPopover [data-has-shortcut] { gap: 0; }
  .st-key-explore_bar .stPopover button > div > [aria-hidden] { display: none; }
  .st-key-explore_bar .stPopover button > div { margin-right: 0; }
}
@media (min-width: 1000px) {
  .stMainBlockContainer:has(.st-key-explore) { overflow: hidden; height: 100dvh; }
  .st-key-explore {
    --bup-map-fills: 1;
    --bup-map-height: calc(100dvh - 8rem - var(--bup-bar, 0rem));
    --bup-ego-height: clamp(11rem, calc(100dvh - 27rem - var(--bup-bar, 0rem)), 34rem);
    display: grid;
    grid-template-columns: minmax(51vw, 1fr) minmax(0, 29rem);
    gap: 1.25rem;
    align-items: start;
  }
  .st-key-explore_node {
    height: calc(100dvh - 3.4rem - var(--bup-bar, 0rem));
    overflow: hidden auto;
  }
  .st-key-explore_bar { flex-wrap: nowrap; }
  .st-key-explore_bar > :first-child { flex: 1 1 0; width: auto !important; }
}
"""
