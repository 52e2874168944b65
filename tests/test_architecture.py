"""Data flow one way, files stay small, the import stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
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
    long = {str(p.relative_to(ROOT)): n for _, p in _files() if (n := len(p.read_text().splitlines())) > 320}
    assert not long, long


def test_public_names_exist_and_import_is_light():
    code = (
        "import sys, zfree; heavy = {'numpy', 'scipy', 'sklearn', 'torch', 'matplotlib', 'pandas'} & set(sys.modules);"
        "assert not heavy, heavy;"
        "assert all(getattr(zfree, name) is not None for name in zfree.__all__);"
        "assert 'torch' not in sys.modules and 'matplotlib' not in sys.modules;"
        "assert set(zfree.__all__) <= set(dir(zfree))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
