"""Functions, classes and methods that no other code of the project uses; part of ``make lint``.

A use by tests alone does not count, a name in a TOML file of the packages does. Attributes and
variables are left out: session state and what is sent to JavaScript is read by names in strings.
"""

import re
import sys

from vulture import Vulture

from tests.support import ROOT

FOLDERS = ("bup", "dashboard", "tests/bench", "tests/tools")
CALLED = ["@click.command*", "@*.command*", "@traitlets.validate*"]
CALLED_BY_OTHERS = [
    *("__getattr__", "__dir__"),  # Python
    *("list_commands", "create_module", "exec_module"),  # click, importlib
    "set_sizes",  # bup.figures, for notebooks
    "decision_function",  # scikit-learn
    *("on_files", "on_page_markdown"),  # mkdocs
]


def main() -> int:
    tables = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.toml")]
    named = [name for path in tables for name in re.findall(r'"([a-z_]\w+)"', path.read_text())]
    vulture = Vulture(ignore_names=[*CALLED_BY_OTHERS, *named], ignore_decorators=CALLED)
    vulture.scavenge([str(ROOT / folder) for folder in FOLDERS])
    unused = vulture.unused_funcs + vulture.unused_methods + vulture.unused_classes
    for item in [*unused, *vulture.unused_props]:
        path = item.filename.relative_to(ROOT)
        print(f"{path}:{item.first_lineno}: unused {item.typ} {item.name!r}")
    return 1 if unused or vulture.unused_props else 0


if __name__ == "__main__":
    sys.exit(main())
