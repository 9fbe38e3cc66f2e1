"""Import paths that users know, for modules that lie elsewhere."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class Aliases(MetaPathFinder, Loader):
    """In ``sys.meta_path``: ``import alias`` gives the module that the mapping names, no copy."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = modules

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name in self._modules else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(self._modules[spec.name])
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # It has run under its own name. The import system has replaced its spec: put it back.
        alias = module.__spec__
        assert alias is not None
        module.__spec__ = alias.loader_state
