"""Several modules of JavaScript as one script: an imported module runs once, in its own scope."""

import shutil
import subprocess

import pytest

from dashboard.components.shared.modules import bundle

NODE = shutil.which("node")


def written(folder, **files):
    for name, source in files.items():
        (folder / f"{name}.js").write_text(source)
    return folder / "main.js"


def run(script, tmp_path):
    path = tmp_path / "bundle.mjs"
    path.write_text(script)
    done = subprocess.run([NODE, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.skipif(NODE is None, reason="there is no Node")
def test_a_bundle_does_what_its_modules_do(tmp_path):
    main = written(
        tmp_path,
        main='import { start, size as many } from "./a.js";\nimport { log } from "./b.js";\n'
        "const name = 'main';\nlog(name, start(), many);\nexport default name;\n",
        a='import {\n  log,\n} from "./b.js";\n\nconst name = "a";\nexport const size = 3;\n'
        "/**\n * Not sent: import\n */\nexport async function later() {}\n"
        "export function start() {\n  log(name);\n  return `${name}`;\n}\n",
        b='const name = await Promise.resolve("b");\nconsole.log(name);\n'
        "// says it\nexport const log = (...words) => console.log(...words);\n",
    )
    script = bundle(main)
    # The modules themselves, and the one that was made of them.
    assert run(script.replace("export default name;", ""), tmp_path) == ["b", "a", "main", "a", "3"]
    assert script.count("export ") == 1 and "Not sent" not in script and "says it" not in script


def test_what_cannot_be_put_into_one_script_is_refused(tmp_path):
    circle = written(
        tmp_path,
        main='import { a } from "./a.js";\n',
        a='import { b } from "./b.js";\nexport const a = 1;\n',
        b='import { a } from "./a.js";\nexport const b = 2;\n',
    )
    with pytest.raises(ValueError, match=r"import each other: main.js -> a.js -> b.js -> a.js"):
        bundle(circle)
    with pytest.raises(ValueError, match=r"a.js has an export of another form: export let a = 1"):
        bundle(written(tmp_path, main='import { a } from "./a.js";\n', a="export let a = 1;\n"))
    for form in ('import a from "./a.js";', 'import "./a.js";', 'import { a } from "https://x";'):
        with pytest.raises(ValueError, match=r"main\.js has an import of another form"):
            bundle(written(tmp_path, main=f"{form}\n"))
