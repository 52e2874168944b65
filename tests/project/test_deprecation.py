"""Old spellings work, warn at the user's line with the new spelling and the end, and are gone in time."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
import types
import warnings
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator, clone

import zfree
from zfree import deprecation
from zfree.deprecation import Renamed, overdue, renamed_arguments, renamed_attributes, renamed_names
from zfree.errors import SpecificationError, ZfreeDeprecationWarning, ZfreeWarning


@pytest.fixture(autouse=True)
def _own_declarations(monkeypatch):
    monkeypatch.setattr(deprecation, "declared", [])


@pytest.fixture
def module(monkeypatch):
    made = types.ModuleType("made_up")
    made.New = object()
    made.__getattr__ = renamed_names(
        "made_up", {"Old": Renamed("New", "9.1"), "Moved": Renamed("zfree.domains.Ball", "9.1")}
    )
    monkeypatch.setitem(sys.modules, "made_up", made)
    return made


def told(record) -> str:
    """The one message, which must point to this file."""
    (warning,) = record
    assert Path(warning.filename) == Path(__file__)
    return str(warning.message)


def test_the_warning_is_shown_by_default_and_is_the_librarys_own():
    assert issubclass(ZfreeDeprecationWarning, FutureWarning)
    assert issubclass(ZfreeDeprecationWarning, ZfreeWarning)


def test_names_of_a_module(module):
    with pytest.warns(ZfreeDeprecationWarning) as record:
        assert module.Old is module.New
    assert told(record) == "made_up.Old is now made_up.New. The old spelling goes in zfree 9.1."
    with pytest.warns(ZfreeDeprecationWarning, match=r"is now zfree\.domains\.Ball\."):
        from made_up import Moved
    assert Moved is zfree.Ball
    with pytest.raises(AttributeError, match="module 'made_up' has no attribute 'Older'"):
        _ = module.Older


def test_names_of_the_package(monkeypatch):
    monkeypatch.setattr(zfree, "_old_name", renamed_names("zfree", {"Sphere": Renamed("Ball", "9.1")}))
    with pytest.warns(ZfreeDeprecationWarning) as record:
        assert zfree.Sphere is zfree.Ball
    assert told(record) == "zfree.Sphere is now zfree.Ball. The old spelling goes in zfree 9.1."
    assert "Sphere" not in dir(zfree)
    with pytest.raises(AttributeError, match="module 'zfree' has no attribute 'Cube'"):
        _ = zfree.Cube


def made_class() -> type:
    @renamed_attributes("9.1", old="new", old_method="method", old_maker="maker")
    class Thing:
        def __init__(self) -> None:
            self.new = 1

        def method(self) -> int:
            return self.new + 1

        @classmethod
        def maker(cls) -> object:
            return cls()

    return Thing


def test_attributes_are_read_and_written():
    thing = made_class()()
    with pytest.warns(ZfreeDeprecationWarning) as record:
        assert thing.old == 1
    assert told(record) == "Thing.old is now Thing.new. The old spelling goes in zfree 9.1."
    with pytest.warns(ZfreeDeprecationWarning) as record:
        thing.old = 5
    assert told(record).startswith("Thing.old is now Thing.new.")
    assert thing.new == 5
    assert vars(thing) == {"new": 5}


def test_methods_of_instances_and_of_the_class():
    cls = made_class()
    with pytest.warns(ZfreeDeprecationWarning, match=r"Thing\.old_method is now Thing\.method"):
        assert cls().old_method() == 2
    with pytest.warns(ZfreeDeprecationWarning, match=r"Thing\.old_maker is now Thing\.maker"):
        assert type(cls.old_maker()) is cls


def test_an_attribute_that_is_not_there_yet_does_not_warn():
    thing = made_class()()
    del thing.new
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        assert not hasattr(thing, "old")
    assert not record


@renamed_arguments("9.1", width="size")
def area(height: float, size: float = 2.0) -> float:
    return height * size


def test_arguments():
    with pytest.warns(ZfreeDeprecationWarning) as record:
        assert area(3.0, width=4.0) == 12.0
    assert told(record) == "area(width=) is now area(size=). The old spelling goes in zfree 9.1."
    assert area(3.0, size=4.0) == 12.0  # warnings are errors here
    assert area(3.0) == 6.0
    assert list(inspect.signature(area).parameters) == ["height", "size"]


@pytest.mark.parametrize(("args", "kwargs"), [((3.0, 4.0), {}), ((3.0,), {"size": 4.0})])
def test_both_spellings_at_once_are_refused(args, kwargs):
    with pytest.raises(SpecificationError, match="got width= and size=, which are the same; give size= alone"):
        area(*args, width=5.0, **kwargs)


def test_arguments_of_an_estimator():
    class Estimator(BaseEstimator):
        @renamed_arguments("9.1", strength="ridge")
        def __init__(self, ridge: float = 0.0) -> None:
            self.ridge = ridge

    with pytest.warns(ZfreeDeprecationWarning, match=r"Estimator\.__init__\(strength=\) is now"):
        estimator = Estimator(strength=0.5)
    assert clone(estimator).get_params() == {"ridge": 0.5}


def test_overdue_ones_are_found(module):
    made_class()
    renamed_arguments("10.0", width="size")(lambda size: size)
    assert overdue("9.0.3") == []
    assert overdue("9.1.0.dev0") == [
        "made_up.Old", "made_up.Moved", "Thing.old", "Thing.old_method", "Thing.old_maker",
    ]  # fmt: skip
    assert len(overdue("10.0.0")) == 6


def test_no_old_spelling_has_outlived_its_release(monkeypatch):
    monkeypatch.undo()  # what the library itself declared
    for found in pkgutil.walk_packages(zfree.__path__, "zfree."):
        importlib.import_module(found.name)
    assert overdue(zfree.__version__) == []
