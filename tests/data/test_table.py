"""Rows as a source: blocks in order, sums in order, samples and groups that depend on the set of rows alone."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import zfree as zf
from zfree.data import Table, Together, deal
from zfree.errors import NotConvexAtRowError, NotConvexError, SpecificationAtRowError, SpecificationError

RNG = np.random.default_rng(0)
X, WEIGHT = RNG.gamma(2.0, 1.0, (1003, 3)), RNG.uniform(0.5, 2.0, 1003)
NUMBERS = np.sort(RNG.permutation(1500)[:1003])
TABLE = Table(X, WEIGHT, ("a", "b", "c"), NUMBERS)


@pytest.mark.parametrize("rows", [1, 64, 500, 1002, 1003, 1004])
def test_blocks_cover_all_rows_in_order(rows):
    blocks = list(TABLE.dealt(7).blocks(rows))
    assert [b.start for b in blocks] == list(range(0, 1003, rows))
    assert all(len(b) == rows for b in blocks[:-1])
    assert np.array_equal(np.concatenate([b.X for b in blocks]), X)
    assert np.array_equal(np.concatenate([b.weight for b in blocks]), WEIGHT)
    assert np.array_equal(np.concatenate([b.groups for b in blocks]), deal(X, WEIGHT, 7))
    assert [b.number(i) for b in blocks for i in range(len(b))] == NUMBERS.tolist()
    assert sum(b.total for b in blocks) == pytest.approx(WEIGHT.sum())


def test_rows_without_weights_weigh_one_and_are_counted_from_the_first():
    first, second = Table(X[:100]).blocks(60)
    assert second.weight is None
    assert np.array_equal(second.weights, np.ones(40))
    assert (first.total, second.total) == (60.0, 40.0)
    assert (first.number(3), second.number(3)) == (3, 63)


def test_all_rows_are_one_block_that_stays_the_same():
    """What is evaluated on it is kept, so there must not be a second one."""
    (whole,) = TABLE.blocks(2000)
    assert whole is TABLE.whole
    assert (whole,) == tuple(TABLE.blocks(1003))


def test_parts_of_a_block_keep_their_place():
    (_, block) = TABLE.dealt(5).blocks(600)
    part = block.part(slice(10, 30))
    assert (len(part), part.start, part.number(2)) == (20, 610, NUMBERS[612])
    assert np.array_equal(part.X, X[610:630])
    assert np.array_equal(part.weight, WEIGHT[610:630])
    assert np.array_equal(part.groups, block.groups[10:30])
    one = block.only(4)
    assert (len(one), one.start, one.number(0)) == (1, 604, NUMBERS[604])
    assert np.array_equal(one.X[0], X[604])


@pytest.mark.parametrize("doubles", [1, 10**4, 10**9])
def test_reduce_adds_in_the_order_of_the_rows(doubles):
    assert TABLE.reduce(lambda b: list(b.X[:, 0]), doubles) == list(X[:, 0])
    total, count = TABLE.reduce(lambda b: Together((b.weights @ b.X, len(b))), doubles)
    assert np.allclose(total, WEIGHT @ X)
    assert count == 1003


def test_blocks_are_as_large_as_is_asked_for(monkeypatch):
    monkeypatch.setattr("zfree.data.chunks.CHUNK_DOUBLES", 2000)
    assert TABLE.reduce(lambda b: [len(b)], 20) == 10 * [100] + [3]
    assert TABLE.reduce(lambda b: [len(b)], 20, 400) == [400, 400, 203]
    assert TABLE.reduce(lambda b: [len(b)], 20, 10) == 10 * [100] + [3]


def test_sums_of_one_pass_are_added_entry_by_entry():
    both = Together((1, [2])) + Together((10, [20]))
    assert isinstance(both, Together)
    assert both == (11, [2, 20])
    with pytest.raises(ValueError, match="zip"):
        Together((1,)) + Together((1, 2))


def test_some_of_the_rows_keep_their_numbers():
    kept = np.flatnonzero(X[:, 0] > 1.0)
    part = TABLE.rows(kept)
    assert np.array_equal(part.X, X[kept])
    assert np.array_equal(part.weight, WEIGHT[kept])
    assert np.array_equal(part.numbers, NUMBERS[kept])
    assert part.columns == ("a", "b", "c")
    assert np.array_equal(part.every(10).numbers, NUMBERS[kept][::10])
    assert np.array_equal(part.every(10).X, X[kept][::10])
    first = part.first()
    assert (len(first), first.number(0)) == (1, NUMBERS[kept[0]])
    assert Table(X).rows(kept).whole.number(5) == kept[5]


def test_groups_are_dealt_and_taken_apart():
    dealt = TABLE.dealt(20)
    parts = [dealt.group(k) for k in range(20)]
    assert max(p.n_rows for p in parts) - min(p.n_rows for p in parts) <= 1
    assert sorted(np.concatenate([p.numbers for p in parts])) == sorted(NUMBERS)
    assert all(np.array_equal(p.numbers, NUMBERS[dealt.groups == k]) for k, p in enumerate(parts))
    assert TABLE.groups is None
    with pytest.raises(AssertionError, match="dealt out first"):
        TABLE.group(0)


def test_dealing_depends_on_the_set_of_rows_alone():
    rng = np.random.default_rng(0)
    X, order = rng.gamma(1.0, 1.0, (503, 3)), rng.permutation(503)
    group = deal(X, None, 20)
    assert np.bincount(group).max() - np.bincount(group).min() <= 1
    assert np.array_equal(deal(X[order], None, 20), group[order])
    assert np.array_equal(deal(X * [1e-6, 1.0, 1e6], None, 20), group)
    assert np.array_equal(deal(X[:, [2, 0, 1]], None, 20), group)
    assert abs(np.corrcoef(group, X[:, 0])[0, 1]) < 0.15
    # rows that agree in everything but their weights
    same, weight = np.repeat(X[:30], 2, axis=0), rng.uniform(0.5, 2.0, 60)
    shuffled = rng.permutation(60)
    assert np.array_equal(deal(same[shuffled], weight[shuffled], 20), deal(same, weight, 20)[shuffled])


SAMPLED = {
    "one column": RNG.exponential(size=(50_000, 1)),
    "three columns": RNG.gamma(2.0, [1.0, 1e6, 1e-6], (50_000, 3)),
    "compositions": RNG.dirichlet([0.3, 1.0, 4.0], 50_000),
    "far away": 1e6 + RNG.standard_normal((50_000, 2)),
    "rounded": np.round(RNG.gamma(2.0, 1.0, (50_000, 2)), 1),
    "counts": RNG.poisson(2.0, (50_000, 1)) + 0.5,
    "a third at a limit": np.maximum(RNG.standard_normal((50_000, 1)), -0.43),
    "all alike": np.ones((50_000, 2)),
}


def _rows_of(table):
    """The sampled rows as a set with multiplicities, whatever their order."""
    columns = table.X if table.weight is None else np.column_stack([table.X, table.weight])
    return columns[np.lexsort(columns.T)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", SAMPLED)
def test_a_sample_is_of_the_size_asked_for_and_like_the_rows(name, weighted):
    X = SAMPLED[name]
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(X)) if weighted else None
    table = Table(X, weight)
    sample = table.sample(10_000)
    assert sample.n_rows == pytest.approx(10_000, rel=0.01)
    assert np.array_equal(sample.X, X[sample.numbers])
    assert len(set(sample.numbers)) == sample.n_rows
    error = X.std(axis=0) / 100.0
    assert np.all(np.abs(sample.X.mean(axis=0) - X.mean(axis=0)) <= 4 * error)
    for k, values in enumerate(X.T):  # every part of the distribution, not the mean alone
        for level in (0.1, 0.5, 0.9):
            below = np.mean(values <= np.quantile(values, level))
            assert np.mean(sample.X[:, k] <= np.quantile(values, level)) == pytest.approx(below, abs=0.02)
    if weighted:
        assert np.array_equal(sample.weight, weight[sample.numbers])
        assert sample.weight.mean() == pytest.approx(weight.mean(), rel=0.02)
    # as good as drawn at random: no part of the table is preferred
    assert np.mean(sample.numbers) == pytest.approx(25_000, rel=0.03)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", SAMPLED)
def test_a_sample_depends_on_neither_the_order_of_the_rows_nor_units(name, weighted):
    X = SAMPLED[name]
    weight = np.random.default_rng(1).choice([0.5, 1.0, 2.0], len(X)) if weighted else None
    sample = Table(X, weight).sample(10_000)
    order = np.random.default_rng(2).permutation(len(X))
    shuffled = Table(X[order], None if weight is None else weight[order]).sample(10_000)
    assert np.array_equal(_rows_of(shuffled), _rows_of(sample))
    turned = Table(np.ascontiguousarray(X[:, ::-1]), weight).sample(10_000)
    assert np.array_equal(turned.numbers, sample.numbers)
    units = np.array([1024.0, 3e-7, 10.0])[: X.shape[1]]
    scaled = Table(X * units, weight).sample(10_000).numbers
    if name == "far away":  # where units change digits that count
        assert len(np.intersect1d(scaled, sample.numbers)) > 9990
    else:
        assert np.array_equal(scaled, sample.numbers)


def test_few_rows_are_their_own_sample():
    assert TABLE.sample(1003) is TABLE
    assert TABLE.sample(10**6) is TABLE
    assert TABLE.sample(1002).n_rows == 1002


def test_a_row_far_away_with_hardly_any_weight_is_sampled_in_silence():
    far, weight = SAMPLED["three columns"].copy(), np.ones(50_000)
    far[7], weight[7] = 1e20, 1e-60
    assert Table(far, weight).sample(10_000).n_rows == pytest.approx(10_000, rel=0.01)


def test_a_choice_looks_at_a_fair_part_of_counts(monkeypatch):
    """Twelve values only: a sample of values, not of rows, would make the criterion meaningless."""
    x = np.round(np.random.default_rng(0).gamma(2.0, 1.0, (60_000, 1))) + 0.5
    looked = zf.Gamma(check=False).fit(x).result_.selection
    assert looked.rows == 20_000
    monkeypatch.setattr("zfree.selection.sample.LOOK", 10**6)
    at_all = zf.Gamma(check=False).fit(x).result_.selection
    assert at_all.rows is None
    assert looked.criterion == pytest.approx(at_all.criterion, rel=0.05)


# Numbers of rows in messages are those of the user's table.


def _fails_at(bad):
    def jacobian(X):
        J = np.broadcast_to(-np.eye(2), (len(X), 2, 2)).copy()
        J[np.isclose(X[:, 0], bad)] = np.nan
        return J

    return zf.ExponentialFamily(
        lambda X: -X,
        jacobian=jacobian,
        hessian=lambda X: np.zeros((len(X), 2, 2, 2)),
        domain=zf.Orthant(2),
        boundary="drop",
        generator=zf.Barrier(1.0),
        check=False,
    )


@pytest.mark.filterwarnings("ignore::zfree.errors.BoundaryRowsWarning")
@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_message_names_the_row_of_the_users_table(weighted, chunked, monkeypatch):
    X = np.random.default_rng(3).gamma(3.0, 1.0, (300, 2))
    X[[0, 5, 100]] = 0.0  # dropped
    weight = np.ones(300) if weighted else None
    if weighted:
        weight[[1, 2, 150]] = 0.0  # no rows either
    if chunked:
        monkeypatch.setattr("zfree.data.chunks.CHUNK_DOUBLES", 1)
    with pytest.raises(SpecificationError, match=r"row 210\b"):
        _fails_at(X[210, 0]).fit(X, sample_weight=weight)


@pytest.mark.filterwarnings("ignore::zfree.errors.BoundaryRowsWarning")
@pytest.mark.parametrize("doubles", [2**20, 1])
@pytest.mark.parametrize("chosen", [False, True])
def test_a_weight_that_fails_names_the_row_of_the_users_table(chosen, doubles, monkeypatch):
    monkeypatch.setattr("zfree.data.chunks.CHUNK_DOUBLES", doubles)
    X = np.random.default_rng(3).gamma(3.0, 1.0, (300, 2))
    X[[0, 5, 100]] = 0.0
    bad = X[210, 0]
    weight = zf.Custom(
        lambda X: np.where(np.isclose(X[:, 0], bad), -1.0, 1.0) * X[:, 0] * X[:, 1],
        divergence=lambda X: X[:, ::-1].copy(),
        vanishing_at_boundary=True,
    )
    generator = [weight, zf.Barrier(1.9)] if chosen else weight  # the second is refused, and all reasons are told
    with pytest.raises(SpecificationError, match=r"smallest eigenvalue at row 210 is"):
        zf.TruncatedGaussian(generator=generator, boundary="drop", check=False).fit(X)


@pytest.mark.parametrize(
    ("kind", "plain"), [(SpecificationAtRowError, SpecificationError), (NotConvexAtRowError, NotConvexError)]
)
def test_an_error_at_a_row_is_a_plain_one_once_it_is_numbered_or_sent(kind, plain):
    error = kind("wrong at row {}".format, 3)
    assert isinstance(error, plain)
    numbered = error.renumbered(lambda row: row + 100)
    assert type(numbered) is plain
    assert (str(error), str(numbered)) == ("wrong at row 3", "wrong at row 103")
    sent = pickle.loads(pickle.dumps(error))
    assert type(sent) is plain
    assert str(sent) == str(error)
