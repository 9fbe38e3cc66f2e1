"""Training on demand: by arguments, for several seeds at once, or by specification."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bup import calibrators, methods
from bup.datasets import as_graph, load_graph
from bup.engine.loop import OnEpoch
from bup.engine.threads import one_thread
from bup.errors import BupError
from bup.graph import Graph
from bup.io import files
from bup.io.files import Contents, DamagedFile
from bup.results.result import Result
from bup.results.store import Store, pack_result, unpack_result
from bup.run.custom_split import OF_GRAPH
from bup.run.spec import Run, Spec, Value
from bup.run.splits import USUAL, Classes, Split, Usual, classes_of, sizes, split_name, split_of
from bup.training import checks


def fit(
    graph: Any,
    method: str | None = None,
    per_class: int | None = None,
    seed: int = 0,
    left_out: Classes = (),
    validation: int | Usual = USUAL,
    test: int | Usual | None = USUAL,
    on_epoch: OnEpoch | None = None,
    model: Any = None,
    split: Any = "",
    store: Store | Path | str | bool = False,
    **settings: Any,
) -> Result:
    """Train one model and return its result.

    Without a ``split``, ``per_class`` nodes of each class train (20), and the usual numbers of
    others validate and test (see ``usual_sizes``; ``test=None``: all the rest), drawn by ``seed``;
    a graph that came with a split is trained on that unless one of these numbers is given.
    ``split`` is a name (``public``, ``20/10/70``, ``graph`` for the one that came with it) or one
    of your own: a ``bup.Split``, or masks or lists of node numbers for training, validation and
    test. ``left_out`` are classes by name or number.

    ``on_epoch`` is called after every epoch and may raise ``bup.Cancelled``. ``settings`` are the
    method's own; the same arguments give bit-identical results on the same machine. ``model`` is
    a model of your own instead of a method, see ``bup.training.torch_model.fit_model``. ``graph``
    may be a name or another package's graph, see ``bup.datasets.as_graph``.

    ``store=True`` reads the result from the store of the app and the commands if it is there, and
    puts it there otherwise; a path or a ``bup.Store`` is another one. It is the same result. By
    default nothing is read and nothing written. A ``model`` is trained anyway, and then put there.
    """
    if model is not None:
        from bup.training.torch_model import fit_model

        if method is not None:
            raise BupError(f"give a method ({method!r}) or a model of your own, not both")
        graph = as_graph(graph)
        spec = asked(graph, "own", per_class, seed, left_out, validation, test, split)
        result = fit_model(graph, model, spec, on_epoch, **settings)
        if (kept := _store(store)) is not None:
            save(result, graph, kept)
        return result
    several = fit_many(
        graph,
        method or "bup",
        per_class,
        [seed],
        left_out,
        validation,
        test,
        on_epoch,
        split,
        store,
        **settings,
    )
    return several[0]


def fit_many(
    graph: Any,
    method: str = "bup",
    per_class: int | None = None,
    seeds: Iterable[int] = range(10),
    left_out: Classes = (),
    validation: int | Usual = USUAL,
    test: int | Usual | None = USUAL,
    on_epoch: OnEpoch | None = None,
    split: Any = "",
    store: Store | Path | str | bool = False,
    **settings: Any,
) -> list[Result]:
    """Train several seeds side by side: the same results as one by one, in less time.

    At the usual width they have the same bits; BUP with 16 hidden units differs by some 5e-9.
    """
    graph = as_graph(graph)
    if not isinstance(seeds, Iterable):
        raise BupError(f"seeds are a list of whole numbers, such as range(3), got {seeds!r}")
    first = asked(graph, method, per_class, 0, left_out, validation, test, split, settings)
    specs = [methods.complete(dataclasses.replace(first, seed=seed)) for seed in seeds]
    kept = _store(store)
    found = {spec: None if kept is None else load(spec, graph, kept) for spec in specs}
    missing = [spec for spec in found if found[spec] is None]
    if missing or not specs:
        for trained in fit_specs(graph, missing, on_epoch):
            found[trained.spec] = trained
            if kept is not None:
                save(trained, graph, kept)
    return [result for spec in specs if (result := found[spec]) is not None]


def _store(given: Store | Path | str | bool | None) -> Store | None:
    if given is True:
        return Store()
    if isinstance(given, Path | str) and str(given):
        return Store(given)
    if given is False or given is None or isinstance(given, Store):
        return given or None
    raise BupError(f"store is True, False, a path or a bup.Store, got {given!r}")


def asked(
    graph: Graph,
    method: str,
    per_class: int | None,
    seed: int,
    left_out: Classes,
    validation: int | Usual,
    test: int | Usual | None,
    split: Any,
    settings: Mapping[str, Value] | None = None,
) -> Spec:
    """The run that arguments ask for on a graph."""
    drawn = per_class is not None or validation != USUAL or test != USUAL
    split = "" if split is None else split
    given = not (isinstance(split, str) and not split)
    if given and drawn:
        raise BupError(
            "a split says which nodes train, validate and test: leave out per_class, validation "
            "and test, or the split"
        )
    if not given and not drawn and graph.parts is not None:
        split = OF_GRAPH
    left_out = classes_of(graph, left_out)
    if isinstance(split, Split):
        if left_out and split.left_out and left_out != split.left_out:
            raise BupError(f"the split leaves out {split.left_out}, left_out is {left_out}")
        left_out = left_out or split.left_out
    validation, test = sizes(graph, validation, test)
    return Spec(
        graph=graph.name,
        method=method,
        per_class=Spec.per_class if per_class is None else per_class,
        validation=validation,
        test=test,
        left_out=left_out,
        seed=seed,
        settings=tuple((settings or {}).items()),
        split=split_name(graph, split),
    )


def fit_specs(graph: Graph, specs: Sequence[Spec], on_epoch: OnEpoch | None = None) -> list[Result]:
    """Train runs that differ in nothing but their seed."""
    if not specs:
        raise BupError("there is nothing to train: give at least one seed")
    specs = [methods.complete(spec) for spec in specs]
    if len({dataclasses.replace(spec, seed=0) for spec in specs}) > 1:
        raise BupError("runs that train side by side may differ in their seed only")
    splits = [split_of(graph, spec) for spec in specs]
    seeds = [spec.seed for spec in specs]
    method, settings = methods.find(specs[0].method), methods.settings_of(specs[0])
    method.check(graph)
    with one_thread():
        fitted, trained_in = _uncalibrated(graph, specs, splits, settings, on_epoch)
        start = time.perf_counter()
        splits = [f.split or split for f, split in zip(fitted, splits, strict=True)]
        fitted = [
            methods.calibrate_fitted(f, method, settings, graph, split, seed)
            for f, split, seed in zip(fitted, splits, seeds, strict=True)
        ]
    seconds = (trained_in + time.perf_counter() - start) / len(specs)
    return [
        Result(
            spec=spec,
            split=split,
            probs=f.probs,
            mean=f.mean,
            var=f.var,
            history=f.history,
            kept_epoch=f.kept_epoch,
            seconds=seconds,
            weights=f.weights,
            constants=f.constants,
            own_scores=f.scores,
            graph=graph,
        )
        for spec, split, f in zip(specs, splits, fitted, strict=True)
    ]


Trainings = tuple[list[methods.Fitted], float]  # and how many seconds they took
_last: tuple[object, Trainings] | None = None


def _uncalibrated(
    graph: Graph,
    specs: Sequence[Spec],
    splits: Sequence[Split],
    settings: Any,
    on_epoch: OnEpoch | None,
) -> Trainings:
    """What training gives, before any calibration.

    Whoever compares calibrations asks for the same training again and again: the last one that a
    calibration followed is remembered.
    """
    global _last
    plain = dataclasses.replace(settings, calibrate=calibrators.NONE)
    which = graph.digest, tuple(dataclasses.replace(s, settings=()) for s in specs), plain
    if _last is not None and _last[0] == which:
        return _last[1]
    start = time.perf_counter()
    method = methods.find(specs[0].method)
    fitted = method.fit(graph, splits, [spec.seed for spec in specs], settings, on_epoch)
    found = fitted, time.perf_counter() - start
    if settings.calibrate != calibrators.NONE:
        _last = which, found
    return found


def run_of(spec: Spec, graph: Graph) -> Run:
    """The run of a specification on this graph: equal runs are equal here."""
    return Run(methods.complete(spec), graph.digest)


def load(spec: Spec, graph: Graph, store: Store | None = None) -> Result | None:
    """The result of a run if the store holds a sound one."""
    run = run_of(spec, graph)
    store = store or Store()
    packed = store.load(run)
    if packed is None:
        return None
    try:
        return _sound(run, packed, graph)
    except DamagedFile as error:
        store.set_aside(run, error)
        return None


def _sound(run: Run, packed: Contents, graph: Graph) -> Result:
    """A result whose every part is what it should be; raises DamagedFile."""
    result = Result.unpack(run.spec, packed, graph)
    checks.check(result, graph, methods.find(run.spec.method).explains)
    return result


def save(result: Result, graph: Graph, store: Store | None = None) -> None:
    """Put a result in the store."""
    packed = result.pack()
    (store or Store()).save(run_of(result.spec, graph), packed.arrays, packed.values)


def write(result: Result, path: Path) -> None:
    """Put a result into a file."""
    run = run_of(result.spec, result.get_graph())
    try:
        files.write_atomically(path, pack_result(run, *result.pack()))
    except OSError as error:
        raise BupError(
            f"{path} cannot be written ({error.strerror or error}): choose another place"
        ) from error


def read(path: Path, graph: Graph | str | None = None) -> Result:
    """A result from a file, as sound as one from the store."""
    try:
        run, packed = unpack_result(files.read(path))
        if isinstance(graph, Graph):
            found = graph
        else:
            found = _graph_of(run.spec.graph if graph is None else graph, path)
        if found.digest != run.digest:
            raise BupError(
                f"{path} is of another graph than {found.name}, or of {found.name} when it had "
                "other content: give the graph that it was trained on, as Result.load(path, graph)"
            )
        if methods.complete(run.spec) != run.spec:
            raise DamagedFile("its settings are not those of its method")
        return _sound(run, packed, found)
    except OSError as error:
        raise BupError(f"{path} cannot be read ({error.strerror or error})") from error
    except DamagedFile as error:
        raise BupError(f"{path} is no sound result: {error}") from error


def _graph_of(name: str, path: Path) -> Graph:
    try:
        return load_graph(name)
    except BupError as error:
        raise BupError(
            f"{path} is of the graph {name!r}, which cannot be loaded ({error}). Give it yourself, "
            "as Result.load(path, graph)"
        ) from error
