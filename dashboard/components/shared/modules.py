"""Several ES modules as one text.

Streamlit takes the script of a component as one text, and an exported page has no server to fetch
modules from. So each imported module becomes a function that is called once and returns its
exports: names in different modules never meet.
"""

import re
from pathlib import Path

_COMMENT = re.compile(r"^[ \t]*(?://.*\n|/\*\*[\s\S]*?\*/[ \t]*\n?)", re.MULTILINE)
_INDENT = re.compile(r"^\s+", re.MULTILINE)
_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]*)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
_OTHER_IMPORT = re.compile(r"^import\b(?! ?\().*", re.MULTILINE)
_OTHER_EXPORT = re.compile(r"^export\b.*", re.MULTILINE)
_AWAIT = re.compile(r"^\S.*\bawait\b", re.MULTILINE)  # only a module's top level is not indented


def bundle(entry: Path) -> str:
    """The module ``entry`` with what it imports, as one module with the exports of ``entry``.

    Imports are ``import { name, other as alias } from "./file.js";``, and an imported module
    exports functions, classes and constants where it declares them. Lines of comments and
    indentation are left out (also inside template literals, as in shaders), because the text
    travels to the browser with every message.
    """
    bundler = _Bundler()
    script = bundler.linked(entry.resolve(), ())
    return _INDENT.sub("", "".join([*bundler.scripts, script]))


class _Bundler:
    def __init__(self) -> None:
        self.names: dict[Path, str] = {}
        self.scripts: list[str] = []  # the imported modules, each after those that it imports

    def linked(self, path: Path, importers: tuple[Path, ...]) -> str:
        """A module whose imports are constants, once the imported modules are in ``scripts``."""
        if path in importers:
            circle = " -> ".join(module.name for module in (*importers, path))
            raise ValueError(f"modules import each other: {circle}")
        source = _COMMENT.sub("", path.read_text(encoding="utf-8"))
        constants = []
        for names, relative in _IMPORT.findall(source):
            imported = (path.parent / relative).resolve()
            if imported not in self.names:
                self._add(imported, (*importers, path))
            constants.append(f"const {{{names.replace(' as ', ': ')}}} = {self.names[imported]};\n")
        source = _IMPORT.sub("", source)
        if other := _OTHER_IMPORT.search(source):
            raise ValueError(f"{path.name} has an import of another form: {other[0]}")
        return "".join([*constants, source])

    def _add(self, path: Path, importers: tuple[Path, ...]) -> None:
        source = self.linked(path, importers)
        exports = ", ".join(_EXPORT.findall(source))
        source = _EXPORT.sub("", source)
        if other := _OTHER_EXPORT.search(source):
            raise ValueError(f"{path.name} has an export of another form: {other[0]}")
        self.names[path] = f"${len(self.names)}_{re.sub(r'[^A-Za-z0-9]', '_', path.stem)}"
        start, end = (
            ("await (async () => {", "})();") if _AWAIT.search(source) else ("(() => {", "})();")
        )
        self.scripts.append(
            f"const {self.names[path]} = {start}\n{source}\nreturn {{ {exports} }};\n{end}\n"
        )
