"""Without a name: the process that draws a graph given on its standard input. With names: makes the
shipped positions of built-in graphs again."""

import sys
from collections.abc import Sequence

import bup
from dashboard.layouts.process import serve
from dashboard.layouts.storage import BUILT_IN, write_shipped


def main(names: Sequence[str]) -> None:
    if not names:
        return serve()
    if not set(names) <= set(BUILT_IN):
        sys.exit(f"give one or more of {', '.join(BUILT_IN)}")
    for name in names:
        path = write_shipped(bup.load_graph(name))
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
