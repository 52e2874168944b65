"""Checkpoints from strangers: nothing in a file is run, and what is not this training's is refused in a sentence."""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import zfree as zf
from zfree.errors import SpecificationError
from zfree.neural import EnergyModel, ImplicitVAE
from zfree.neural.pairs import PairNetwork
from zfree.neural.training import State

BOX = zf.Box([0.0], [1.0])
X = np.random.default_rng(0).beta(2.0, 3.0, (60, 1))
IMAGES = (255 * (np.random.default_rng(1).uniform(size=(40, 9)) < 0.3)).astype(np.uint8)


def energy(path, **options):
    options = {"epochs": 4, "random_state": 3, **options}
    return EnergyModel(domain=BOX, checkpoint=path, **options).fit(X)


def autoencoder(path, iterations=12, **options):
    networks = PairNetwork(9, 2, 2, hidden=(4, 4)), nn.Linear(2, 9), PairNetwork(9, 2, 2, hidden=(4, 4))
    for network in networks:
        with torch.no_grad():
            for k, p in enumerate(network.parameters()):
                p.copy_(torch.linspace(-0.5, 0.4 + 0.1 * k, p.numel()).reshape(p.shape))
    settings = {"checkpoint_every": 3, "batch_size": 10, "checkpoint": path, **options}
    return ImplicitVAE(*networks, iterations=iterations, **settings).fit(IMAGES)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A checkpoint of each kind, of a whole training."""
    folder = tmp_path_factory.mktemp("written")
    energy(folder / "energy.pt")
    autoencoder(folder / "autoencoder.pt")
    return {name: (folder / f"{name}.pt").read_bytes() for name in ("energy", "autoencoder")}


FITS = {"energy": energy, "autoencoder": autoencoder}


class Hostile:
    """Makes a file when it is unpickled."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return Path.touch, (Path(self.marker),)


def load(content):
    return torch.load(io.BytesIO(content), weights_only=True)


def refused(kind, path):
    """The sentence with which the file is refused; it is still there, as it was."""
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(SpecificationError) as caught:
        FITS[kind](path)
    text = str(caught.value)
    assert str(path) in text
    assert text.endswith(".")
    assert "\n" not in text
    assert before is None or path.read_bytes() == before
    return text


@pytest.mark.parametrize("kind", FITS)
@pytest.mark.parametrize("packed", ["torch", "pickle", "in a right one"])
def test_nothing_in_a_file_is_run(tmp_path, written, kind, packed):
    marker, path = tmp_path / "marker", tmp_path / "state.pt"
    if packed == "pickle":
        path.write_bytes(pickle.dumps(Hostile(marker)))
    else:
        content = load(written[kind]) if packed == "in a right one" else {}
        torch.save({**content, "history": Hostile(marker)}, path)
    text = refused(kind, path)
    assert "plain data" in text
    assert "Delete it" in text
    assert not marker.exists()
    torch.load(path, weights_only=False) if packed != "pickle" else pickle.loads(path.read_bytes())
    assert marker.exists()  # it would have


def _truncated(content):
    return content[: len(content) // 2]


def _flipped(content):
    middle = len(content) // 2
    return content[:200] + bytes(255 - b for b in content[200:middle]) + content[middle:]


def _one_bit(content):
    """One bit of a number in the longest tensor is another."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        longest = max(archive.infolist(), key=lambda member: member.file_size)
        where = content.index(archive.read(longest)) + longest.file_size // 2
    return content[:where] + bytes([content[where] ^ 1]) + content[where + 1 :]


def _archive(content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("hello.txt", "hello")
    return buffer.getvalue()


FOREIGN = {
    "empty": lambda content: b"",
    "text": lambda content: b"epoch,loss\n1,2\n",
    "noise": lambda content: np.random.default_rng(0).bytes(5000),
    "cut off": _truncated,
    "last byte missing": lambda content: content[:-1],
    "flipped": _flipped,
    "one bit": _one_bit,
    "zip": _archive,
    "pickle": lambda content: pickle.dumps({"what": 1}),
    "npz": lambda content: _saved(lambda file: np.savez(file, a=np.ones(3))),
}


def _saved(write):
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", FITS)
@pytest.mark.parametrize("name", FOREIGN)
def test_other_files_are_refused_in_a_sentence(tmp_path, written, kind, name):
    path = tmp_path / "state.pt"
    path.write_bytes(FOREIGN[name](written[kind]))
    assert "Delete it to train from the start" in refused(kind, path)


@pytest.mark.parametrize("kind", FITS)
@pytest.mark.parametrize(
    "content", [[1, 2], 5, "text", None, {}, {"what": 3}, nn.Linear(2, 2).state_dict(), torch.ones(3)]
)
def test_other_data_of_torch_are_refused(tmp_path, kind, content):
    path = tmp_path / "state.pt"
    torch.save(content, path)
    assert "no checkpoint of zfree" in refused(kind, path)


@pytest.mark.parametrize("kind", FITS)
def test_folders_and_files_that_cannot_be_read(tmp_path, kind):
    assert "folder" in refused(kind, tmp_path)
    with pytest.raises(SpecificationError, match="folder that does not exist"):
        FITS[kind](tmp_path / "nowhere" / "state.pt")
    if os.geteuid() != 0:
        path = tmp_path / "state.pt"
        path.write_bytes(b"x")
        path.chmod(0)
        assert "cannot be read" in refused(kind, path)


def test_a_class_of_the_first_version_is_refused_and_its_plain_data_read(tmp_path, written):
    """Files of before formats had numbers: those of energies held a class, those of autoencoders plain data."""
    path = tmp_path / "state.pt"
    old = {k: v for k, v in load(written["energy"]).items() if k != "format"}
    torch.save({**old, "state": State()}, path)
    assert "zfree.neural.training.State" in refused("energy", path)
    content = load(written["autoencoder"])
    del content["format"]
    torch.save(content, path)
    assert autoencoder(path).history_ == content["history"]


@pytest.mark.parametrize("kind", FITS)
@pytest.mark.parametrize("number", [0, 3, "2", None, 2.5, [2]])
def test_other_formats_are_refused(tmp_path, written, kind, number):
    path = tmp_path / "state.pt"
    torch.save({**load(written[kind]), "format": number}, path)
    assert "another version" in refused(kind, path)


def _paths(value, prefix=()):
    """Where every part of a checkpoint is."""
    yield prefix
    if isinstance(value, dict):
        for key in value:
            yield from _paths(value[key], (*prefix, key))
    elif isinstance(value, list | tuple):
        for key in range(min(len(value), 1)):
            yield from _paths(value[key], (*prefix, key))


def _changed(value, path, change):
    """The same, with the part at `path` changed."""
    if not path:
        return change(value)
    key, rest = path[0], path[1:]
    if isinstance(value, tuple):
        return tuple(_changed(v, rest, change) if k == key else v for k, v in enumerate(value))
    copied = value.copy()
    copied[key] = _changed(value[key], rest, change)
    return copied


def _other(value):
    """Something of another kind or shape."""
    if isinstance(value, torch.Tensor):
        return [
            value.to(torch.complex64) if value.dtype != torch.complex64 else value.real,
            torch.cat([value.reshape(-1), value.reshape(-1)]),
            value.to_sparse() if value.is_floating_point() and value.ndim else None,
            "text",
        ]
    if isinstance(value, dict):
        return [list(value), {**value, "more": 1}, None]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return ["1", None, [value], -1 - abs(value), True]
    return [7, {}, torch.ones(2)]


LOOSE = {"lowest_score", "best_score", "loss", "held_out", "seconds", "misfit", "prior", "score_loss"}
"""Any number will do."""


def _is_harmless(where, other):
    """Whether a change of a part is none: a number for a number, or more names than are looked at."""
    if where[-1] in LOOSE or (where[0] == "rng" and not isinstance(other, dict)):
        return type(other) in (int, float, bool)
    named = where[0] in ("state", "rng") or "param_groups" in where or where[-1] in ("optimiser", 0)
    return isinstance(other, dict) and named


@pytest.mark.parametrize("kind", FITS)
def test_every_part_is_checked_before_any_is_used(tmp_path, written, kind):
    """Each part in turn is made something else; the file is refused, or the change was none."""
    content, path, tried, accepted = load(written[kind]), tmp_path / "state.pt", 0, []
    for where in list(_paths(content))[1:]:
        if where[0] in ("what", "format"):
            continue
        part = content
        for key in where:
            part = part[key]
        for other in _other(part):
            torch.save(_changed(content, where, lambda _, other=other: other), path)
            tried += 1
            with suppress(SpecificationError):
                FITS[kind](path)
                accepted.append((where, other))
    assert tried > 80
    assert not [(where, other) for where, other in accepted if not _is_harmless(where, other)]


@pytest.mark.parametrize("kind", FITS)
def test_missing_parts_are_named(tmp_path, written, kind):
    content, path = load(written[kind]), tmp_path / "state.pt"
    for name in content.keys() - {"what", "format"}:
        torch.save({k: v for k, v in content.items() if k != name}, path)
        assert f"'{name}' is missing" in refused(kind, path)


@pytest.mark.parametrize("index", [99, -1, "0"])
def test_averages_of_other_parameters_are_refused(tmp_path, written, index):
    content, path = load(written["energy"]), tmp_path / "state.pt"
    states = content["optimiser"]["state"]
    states[index] = states.pop(0)
    torch.save(content, path)
    assert "that of other parameters" in refused("energy", path)


def test_rows_outside_the_data_are_refused(tmp_path, written):
    content, path = load(written["autoencoder"]), tmp_path / "state.pt"
    order = content["order"][0].clone()
    order[0] = 10**9
    torch.save({**content, "order": (order, content["order"][1])}, path)
    assert "no order of rows" in refused("autoencoder", path)


@pytest.mark.parametrize("optimiser", ["adam", "adamw", "rmsprop", "sgd"])
def test_every_optimiser_goes_on_to_the_same_bits(tmp_path, optimiser, monkeypatch):
    whole = energy(None, optimiser=optimiser)
    from zfree.neural.training import Trainer

    record = Trainer._record

    def stop(trainer, loss):
        if trainer.state.epoch == 2:
            raise KeyboardInterrupt
        record(trainer, loss)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_record", stop)
        with pytest.raises(KeyboardInterrupt):
            energy(tmp_path / "state.pt", optimiser=optimiser)
    resumed = energy(tmp_path / "state.pt", optimiser=optimiser)
    assert resumed.history_ == whole.history_
    for a, b in zip(whole.network_.parameters(), resumed.network_.parameters(), strict=True):
        assert torch.equal(a, b)


def test_numbers_of_a_monitor_are_kept_as_plain_ones(tmp_path):
    answers = {"a": np.float64(1.5), "b": torch.tensor(2.5), "c": 3, "d": np.int64(4)}
    first = autoencoder(tmp_path / "state.pt", monitor=lambda est: answers)
    assert {k: first.history_[-1][k] for k in answers} == {"a": 1.5, "b": 2.5, "c": 3, "d": 4}
    assert all(type(v) in (int, float) for v in first.history_[-1].values())
    assert autoencoder(tmp_path / "state.pt", monitor=lambda est: answers).history_ == first.history_
    for wrong in ({"a": "1"}, {"a": np.ones(2)}, {"misfit": 1.0}, [1.0], {"a": None}):
        with pytest.raises(SpecificationError, match="monitor must return numbers"):
            autoencoder(None, monitor=lambda est, wrong=wrong: wrong)


class Remembering(nn.Module):
    """A network with a state that is no tensor."""

    def __init__(self, extra):
        super().__init__()
        self.linear, self.extra = nn.Linear(1, 1), extra

    def forward(self, x):
        return self.linear(x).tanh()

    def get_extra_state(self):
        return self.extra

    def set_extra_state(self, state):
        self.extra = state


def test_a_state_that_could_not_be_read_again_is_not_written(tmp_path):
    def fit(extra):
        return EnergyModel(Remembering(extra), BOX, epochs=1, checkpoint=tmp_path / "state.pt").fit(X)

    with pytest.raises(SpecificationError, match="_extra_state is of type complex"):
        fit(1j)
    assert not list(tmp_path.iterdir())
    fit({"version": 3})
    fit({"version": 3})
