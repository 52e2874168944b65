"""Data flow one way, files stay small, the import stays light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import zfree

ROOT = Path(zfree.__file__).parent
LAYERS = [
    {"arrays", "errors", "files", "threads"},
    {"conversion", "deprecation", "memory"},
    {"autodiff", "fields"},
    {"curvatures", "quadratic", "roots"},
    {"potentials"},
    {"data"},
    {"domains"},
    {"generators", "models"},
    {"neighbourhoods"},
    {"samplers"},
    {"penalties"},
    {"likelihood", "moments"},
    {"solvers"},
    {"inference"},
    {"selection"},
    {"estimators"},
    {"datasets", "plotting"},
    {"neural"},
    {"demo", "experiments"},
    {"cli"},
]
RANK = {name: level for level, names in enumerate(LAYERS) for name in names}


def _imports(path):
    """zfree modules imported by a file, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("zfree."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (a.name.split(".")[1] for a in node.names if a.name.startswith("zfree."))


def _files():
    for path in ROOT.rglob("*.py"):
        relative = path.relative_to(ROOT)
        if relative.name != "__init__.py" or len(relative.parts) > 1:
            yield relative.parts[0].removesuffix(".py"), path


def test_every_module_has_a_layer():
    assert {name for name, _ in _files()} <= set(RANK)


def test_imports_only_go_down():
    wrong = [
        f"{path.relative_to(ROOT)} imports zfree.{target}"
        for name, path in _files()
        for target in _imports(path)
        if target != name and RANK[target] >= RANK[name]
    ]
    assert not wrong, wrong


def test_heavy_libraries_stay_where_they_belong():
    for name, path in _files():
        roots = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                roots.add(node.module.split(".")[0])
            elif isinstance(node, ast.Import):
                roots |= {a.name.split(".")[0] for a in node.names}
        assert "sklearn" not in roots or name in ("estimators", "neural"), path
        assert "torch" not in roots or name in ("autodiff", "neural"), path
        assert "matplotlib" not in roots or name in ("plotting", "demo"), path


def test_files_fit_in_a_head():
    lines = {path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines()) for _, path in _files()}
    long = {name: n for name, n in lines.items() if n > 300}
    assert not long, long


def _shared(places):
    """Names that stand in several places."""
    return {name: found for name, found in places.items() if len(found) > 1}


def test_no_two_files_have_one_name():
    places = defaultdict(set)
    for room, path in _files():
        if path.name not in ("__init__.py", "base.py"):
            places[path.name].add(room)
    assert not _shared(places)


def _classes(path):
    """Public classes of a file, wherever in it, and names at its top that are given to types such as callables."""
    tree = ast.parse(path.read_text())
    yield from (node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name[0] != "_")
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        yield from (t.id for t in targets if isinstance(t, ast.Name) and re.match("[A-Z][a-z]", t.id))


def test_no_two_classes_have_one_name():
    places = defaultdict(set)
    for _, path in _files():
        for name in _classes(path):
            places[name].add(path.relative_to(ROOT).as_posix())
    assert not _shared(places)


def _module(path):
    parts = ("zfree", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _at_import(statements):
    """Imports that run when a module is imported: not those inside functions, nor those for type checkers."""
    for node in statements:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            yield from _at_import(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for part in ("body", "handlers", "orelse", "finalbody"):
                yield from _at_import(getattr(node, part, ()))


def _import_graph(sources):
    """Module → modules of the package that are imported with it, each by the name that it is imported under."""
    graph = {}
    for module, text in sources.items():
        found = set()
        for node in _at_import(ast.parse(text).body):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            else:
                assert not node.level, f"{module} imports by a relative name"
                names = (f"{node.module}.{alias.name}" for alias in node.names)
                found |= {name if name in sources else node.module for name in names}
        graph[module] = found & set(sources)
    return graph


def _cycle(graph):
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_module_imports_itself_by_way_of_others():
    paths = [path for _, path in _files()] + [ROOT / "__init__.py"]
    assert not _cycle(_import_graph({_module(path): path.read_text() for path in paths}))


def test_a_cycle_would_be_seen():
    late = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import zfree.a\ndef f():\n    import zfree.a"
    a = "from zfree import b"
    assert not _cycle(_import_graph({"zfree": "", "zfree.a": a, "zfree.b": late}))
    for closing in (
        "from zfree.a import x",
        "try:\n    import zfree.a\nexcept ImportError:\n    pass",
        "class C:\n    import zfree.a",
    ):
        assert _cycle(_import_graph({"zfree": "", "zfree.a": a, "zfree.b": closing}))


def test_public_names_exist_and_import_is_light():
    code = (
        "import sys, zfree; heavy = {'numpy', 'scipy', 'sklearn', 'torch', 'matplotlib', 'pandas'} & set(sys.modules);"
        "assert not heavy, heavy;"
        "assert all(getattr(zfree, name) is not None for name in zfree.__all__);"
        "assert 'torch' not in sys.modules and 'matplotlib' not in sys.modules;"
        "assert set(zfree.__all__) <= set(dir(zfree))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
