"""Training on demand: by arguments, for several seeds at once, or by specification."""

import dataclasses
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bup import calibrators, methods
from bup.datasets import as_graph, load_graph
from bup.engine.loop import OnEpoch
from bup.engine.threads import one_thread
from bup.errors import BupError
from bup.graph import Graph
from bup.io import files
from bup.results.result import Result
from bup.results.store import Store, unpack_result
from bup.run.custom_split import OF_GRAPH
from bup.run.spec import Run, Spec
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
    """Train one model. The same arguments give bit-identical results on the same machine.

    Parameters
    ----------
    graph
        A :class:`bup.Graph`, the name of one (see ``bup graphs``), or a graph of PyTorch Geometric,
        NetworkX or pandas tables, see :func:`bup.datasets.as_graph`.
    method : str, default "bup"
        A name that ``bup methods`` lists, with a calibrator if wanted: ``"gcn+temperature"``.
    per_class : int, default 20
        Training nodes of each class.
    seed : int, default 0
        Seed of the split and of the weights.
    left_out : int, str or a list of them, default ()
        Classes, by number or name, that the model is never shown.
    validation : int, default "usual"
        Validation nodes: 200, fewer on a small graph (see ``bup.splits.usual_sizes``).
    test : int or None, default "usual"
        Test nodes: 2000, on a small graph all the rest; None means all the rest.
    on_epoch : callable, default None
        Called with a :class:`bup.Progress` after every epoch; may raise :class:`bup.Cancelled`.
    model : torch.nn.Module or callable, default None
        A model of your own in place of ``method``, see :func:`bup.own.fit_model`.
    split : str, Split or three masks or lists of nodes, default ""
        The nodes, in place of ``per_class``, ``validation`` and ``test``: a name (``"public"``,
        ``"20/10/70"``, or ``"graph"`` for the split that came with the graph) or nodes of your own
        for training, validation and test. By default, the split that came with the graph, if there
        is one and none of those three numbers is given.
    store : bool, path or Store, default False
        Read the result from this store if it is there, and save it there otherwise. True is the
        store that the app and the commands use. A ``model`` is always trained.
    **settings
        Settings of the method, see ``bup methods NAME``. The defaults are the method's.

    Returns
    -------
    Result
        Probabilities and messages of all nodes, history, weights.

    Raises
    ------
    BupError
        If an argument is wrong or does not suit the graph; the message says what to change.
    Cancelled
        If ``on_epoch`` raised it.

    Examples
    --------
    >>> import bup
    >>> result = bup.fit("synthetic:nodes=60,classes=2,words=20", per_class=5, epochs=3)
    >>> result.probs.shape
    (60, 2)
    """
    which: dict[str, Any] = {"per_class": per_class, "left_out": left_out, "split": split}
    which |= {"validation": validation, "test": test}
    if model is None:
        which |= {"seeds": [seed], "on_epoch": on_epoch, "store": store}
        return fit_many(graph, method or "bup", **which, **settings)[0]
    from bup.training.torch_model import fit_model

    if method is not None:
        raise BupError(f"give a method ({method!r}) or a model of your own, not both")
    graph = as_graph(graph)
    spec = make_spec(graph, "own", seed=seed, **which)
    result = fit_model(graph, model, spec, on_epoch, **settings)
    if (destination := _open_store(store)) is not None:
        save(result, graph, destination)
    return result


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
    """Train several seeds side by side: the results of :func:`bup.fit` in less time.

    At the usual width they have the same bits; BUP with 16 hidden units differs by some 5e-9.

    Parameters
    ----------
    graph, left_out, validation, test, split, store, **settings
        As in :func:`bup.fit`.
    method : str, default "bup"
        As in :func:`bup.fit`; a model of your own is trained by ``fit`` alone.
    per_class : int, default 20
        Training nodes of each class.
    seeds : iterable of int, default range(10)
        One model is trained for each; a seed draws its split and its weights.
    on_epoch : callable, default None
        Called with a :class:`bup.Progress` after every epoch of all seeds together.

    Returns
    -------
    list of Result
        In the order of ``seeds``.

    Raises
    ------
    BupError
        If an argument is wrong or does not suit the graph.

    Examples
    --------
    >>> import bup
    >>> results = bup.fit_many(
    ...     "synthetic:nodes=60,classes=2,words=20", "gcn", per_class=5, seeds=range(2), epochs=3
    ... )
    >>> [result.spec.seed for result in results]
    [0, 1]
    """
    graph = as_graph(graph)
    if not isinstance(seeds, Iterable):
        raise BupError(f"seeds are a list of whole numbers, such as range(3), got {seeds!r}")
    given = make_spec(graph, method, per_class, 0, left_out, validation, test, split, settings)
    first = methods.complete(given)
    specs = [dataclasses.replace(first, seed=seed) for seed in seeds]
    destination = _open_store(store)
    results: dict[Spec, Result | None] = dict.fromkeys(specs)
    if destination is not None:
        results = {spec: load(spec, graph, destination) for spec in specs}
    missing = [spec for spec, result in results.items() if result is None]
    if missing or not specs:
        for trained in fit_specs(graph, missing, on_epoch):
            results[trained.spec] = trained
            if destination is not None:
                save(trained, graph, destination)
    return [result for spec in specs if (result := results[spec]) is not None]


def _open_store(given: Store | Path | str | bool | None) -> Store | None:
    if given is True:
        return Store()
    if isinstance(given, Path | str) and str(given):
        return Store(given)
    if given is False or given is None or isinstance(given, Store):
        return given or None
    raise BupError(f"store is True, False, a path or a bup.Store, got {given!r}")


def make_spec(
    graph: Graph,
    method: str = "bup",
    per_class: int | None = None,
    seed: int = 0,
    left_out: Classes = (),
    validation: int | Usual = USUAL,
    test: int | Usual | None = USUAL,
    split: Any = "",
    settings: Any = (),
) -> Spec:
    """The specification of the arguments of ``fit``; the method's defaults are not filled in."""
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
        settings=settings,
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
        Result(spec=spec, seconds=seconds, graph=graph, **(vars(f) | {"split": split}))
        for spec, split, f in zip(specs, splits, fitted, strict=True)
    ]


Timed = tuple[list[methods.Fitted], float]  # and the seconds that they took
_last: tuple[object, Timed] | None = None


def _uncalibrated(
    graph: Graph,
    specs: Sequence[Spec],
    splits: Sequence[Split],
    settings: Any,
    on_epoch: OnEpoch | None,
) -> Timed:
    """The outcome of training, before any calibration.

    A comparison of calibrations needs the same training many times: the last one that a
    calibration followed is cached.
    """
    global _last
    plain = dataclasses.replace(settings, calibrate=calibrators.NONE)
    key = graph.digest, tuple(dataclasses.replace(s, settings=()) for s in specs), plain
    if _last is not None and _last[0] == key:
        return _last[1]
    start = time.perf_counter()
    method = methods.find(specs[0].method)
    fitted = method.fit(graph, splits, [spec.seed for spec in specs], settings, on_epoch)
    timed = fitted, time.perf_counter() - start
    if settings.calibrate != calibrators.NONE:
        _last = key, timed
    return timed


def run_of(spec: Spec, graph: Graph) -> Run:
    """The complete run of a specification on this graph."""
    return Run(methods.complete(spec), graph.digest)


def load(spec: Spec, graph: Graph, store: Store | None = None) -> Result | None:
    """The stored result of a specification, or None where there is no valid one."""
    store, run = store or Store(), run_of(spec, graph)
    contents = store.load(run)
    try:
        return None if contents is None else _checked(run, contents, graph)
    except files.DamagedFile as error:
        store.set_aside(run, error)
        return None


def _checked(run: Run, contents: files.Contents, graph: Graph) -> Result:
    """The result that a file holds; raises files.DamagedFile where a part of it is wrong."""
    result = Result.unpack(run.spec, contents, graph)
    checks.check(result, graph, methods.find(run.spec.method).explains)
    return result


def save(result: Result, graph: Graph, store: Store | None = None) -> None:
    (store or Store()).save(run_of(result.spec, graph), *result.pack())


def read(path: Path, graph: Graph | str | None = None) -> Result:
    """A result from a file, checked as those of the store are."""
    try:
        run, contents = unpack_result(files.read(path))
        name = run.spec.graph if graph is None else graph
        loaded = name if isinstance(name, Graph) else _load_graph(name, path)
        if loaded.digest != run.digest:
            raise BupError(
                f"{path} is of another graph than {loaded.name}, or of {loaded.name} when it had "
                "other content: give the graph that it was trained on, as Result.load(path, graph)"
            )
        if methods.complete(run.spec) != run.spec:
            raise files.DamagedFile("its settings are not those of its method")
        return _checked(run, contents, loaded)
    except OSError as error:
        raise BupError(f"{path} cannot be read ({error.strerror or error})") from error
    except files.DamagedFile as error:
        raise BupError(f"{path} is no sound result: {error}") from error


def _load_graph(name: str, path: Path) -> Graph:
    try:
        return load_graph(name)
    except BupError as error:
        raise BupError(
            f"{path} is of the graph {name!r}, which cannot be loaded ({error}). Give it yourself, "
            "as Result.load(path, graph)"
        ) from error
