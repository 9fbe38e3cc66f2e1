"""Functions, classes and methods that no other code of the project uses; part of ``make lint``.

Only tests using something is not a use. Attributes and variables are left out: session state and
what is sent to JavaScript is read by names in strings.
"""

import sys

from vulture import Vulture

from tests.support import ROOT

FOLDERS = ("bup", "dashboard", "tests/bench", "tests/tools")
COMMANDS = ["@click.command*", "@*.command*"]
CALLED_BY_OTHERS = [
    *("__getattr__", "__dir__"),  # Python
    *("list_commands", "create_module", "exec_module"),  # click, importlib
    "set_sizes",  # bup.figures, for notebooks
    "decision_function",  # scikit-learn
]


def main() -> int:
    vulture = Vulture(ignore_names=CALLED_BY_OTHERS, ignore_decorators=COMMANDS)
    vulture.scavenge([str(ROOT / folder) for folder in FOLDERS])
    unused = vulture.unused_funcs + vulture.unused_methods + vulture.unused_classes
    for item in [*unused, *vulture.unused_props]:
        path = item.filename.relative_to(ROOT)
        print(f"{path}:{item.first_lineno}: unused {item.typ} {item.name!r}")
    return 1 if unused or vulture.unused_props else 0


if __name__ == "__main__":
    sys.exit(main())
