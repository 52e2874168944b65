"""Sums of rows in place of products with zeros and ones."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import zfree as zf
from zfree.neural import PairNetwork
from zfree.neural.pairs import Networks, decoder_network
from zfree.neural.sparse_rows import SparseRows
from zfree.neural.vae_training import AutoencoderTrainer


def ones(n, d, share=0.1, seed=0):
    return (torch.rand(n, d, generator=torch.Generator().manual_seed(seed)) < share).float()


def test_product_and_gradient_are_those_of_the_matrix():
    x = ones(30, 50)
    x[3], x[:, 7] = 0.0, 0.0  # a row and a column without ones
    table = torch.randn(50, 4, dtype=torch.float64, requires_grad=True)
    sparse = SparseRows.of(x)
    assert sparse is not None
    assert torch.allclose(sparse.product(table), x.double() @ table, atol=1e-14)
    weight = torch.randn(30, 4, dtype=torch.float64)
    (ours,) = torch.autograd.grad((sparse.product(table) ** 2 * weight).sum(), table)
    (dense,) = torch.autograd.grad(((x.double() @ table) ** 2 * weight).sum(), table)
    assert torch.allclose(ours, dense, atol=1e-13)
    assert torch.equal(ours[7], torch.zeros(4, dtype=torch.float64))


def test_other_matrices_are_left_alone():
    assert SparseRows.of(ones(30, 50, 0.5)) is None  # many ones
    assert SparseRows.of(0.5 * ones(30, 50)) is None  # other numbers
    mixed = ones(30, 50)
    mixed[2, 2] = 0.25
    assert SparseRows.of(mixed) is None
    assert SparseRows.of(ones(30, 50).requires_grad_()) is None
    assert SparseRows.of(ones(30, 50)) is not None
    assert SparseRows.of(torch.zeros(3, 5)) is not None


@pytest.mark.parametrize("generator", [zf.Identity(), zf.CoordinateWeight("exp(-x^2)")])
def test_a_training_goes_the_same_way_with_and_without(generator, monkeypatch):
    pixels = (255 * ones(64, 40).numpy()).astype(np.uint8)

    def trained():
        torch.manual_seed(0)
        networks = Networks(
            PairNetwork(40, 3, 3, (8, 8)), decoder_network(3, 40, (8, 8)), PairNetwork(40, 3, 3, (8, 8))
        )
        trainer = AutoencoderTrainer(networks, generator, pixels, 16, 1e-3, 0)
        for _ in range(20):
            trainer.step()
        return torch.cat([p.detach().ravel() for network in networks for p in network.parameters()])

    sparse = trained()
    monkeypatch.setattr(SparseRows, "of", classmethod(lambda cls, x: None))
    dense = trained()
    assert not torch.equal(sparse, dense)  # another order of the sums
    assert torch.allclose(sparse, dense, atol=1e-5)
