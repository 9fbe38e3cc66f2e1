"""Run the benchmarks whose names are given, or all of them."""

import sys

from tests.bench import (
    clicks,
    cost,
    large,
    lessons,
    loading,
    methods,
    reproduce,
    starting,
    training,
)
from tests.bench.timing import environment

BENCHES = {
    "starting": starting.run,
    "loading": loading.run,
    "epochs": training.run_epochs,
    "seeds": training.run_seeds,
    "growth": training.run_growth,
    "methods": methods.run,
    "cost": cost.run,
    "clicks": clicks.run,
    "lessons": lessons.run,
    "large": large.run,
    "reproduce": reproduce.run,
}


def main() -> None:
    names = sys.argv[1:] or list(BENCHES)
    if unknown := [name for name in names if name not in BENCHES]:
        sys.exit(f"there is no benchmark {unknown[0]!r}: choose from {', '.join(BENCHES)}")
    print(environment())
    for name in names:
        print(f"\n## {name}\n")
        BENCHES[name]()


if __name__ == "__main__":
    main()
