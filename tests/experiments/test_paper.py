"""The paper's numbers against a second transcription of its tables, in their own layout and made without looking at the first."""

from __future__ import annotations

import math

import pytest

from zfree.experiments import paper

ERRORS_SOLID_SIMPLEX = """
φ₁            0.077    0.007  0.234     2.48e4  2.17e4  1.51e4
φ₂            0.254    0.023  0.728     3.58e4  2.91e4  2.25e4
φ₃            739.031  0.083  5051.283  1.50e5  1.26e5  7.79e4
truncated_SM  170.848  0.105  1192.049  5.19e4  4.77e4  2.35e4
h₁            103.371  0.083  715.077   6.05e5  5.81e5  1.05e5
"""
MEDIANS_OF_MU_IN_THE_TEXT = {"φ₁": 0.0072, "φ₂": 0.0227, "φ₃": 0.0828, "h₁": 0.0829, "truncated SM": 0.1050}
ERRORS_ORTHANT = """
φ₁  0.0038  0.0032  0.0023  8.67e3  8.47e3  2.44e3
φ₂  0.0272  0.0108  0.0587  1.81e4  1.67e4  6.00e3
φ₃  1.9524  0.0960  5.5063  2.04e5  1.90e5  7.12e4
h₁  0.0019  0.0016  0.0011  4.89e3  4.70e3  1.18e3
h₂  0.0060  0.0043  0.0056  8.44e3  7.93e3  2.33e3
"""
ERRORS_DIRICHLET = """
φ₁            0.5066  0.3871  0.4244
φ₂            0.2423  0.1799  0.1806
φ₃            0.6311  0.4879  0.5178
truncated_SM  1.1192  0.7314  1.0901
GSM_CD        1.5547  1.3099  0.9400
h₁            7.9691  7.6004  2.1477
"""
ROBUSTNESS_SOLID_SIMPLEX = """
φ₁            0.90  1.16  0.0118  1.00  1.00  4.06e4
φ₂            0.02  2.20  0.0209  0.00  2.02  6.20e4
φ₃            0.06  3.68  0.1005  0.00  4.00  2.80e5
truncated_SM  0.00  3.04  0.0400  0.00  2.98  7.95e4
h₁            0.02  4.92  2.2088  0.00  5.00  1.52e6
"""
ROBUSTNESS_ORTHANT = """
φ₁  0.06  2.94  0.1066  0.06  2.66  4.02e3
φ₂  0.04  3.78  0.2346  0.00  3.92  8.68e3
φ₃  0.04  4.18  0.2588  0.00  5.00  1.83e5
h₁  0.82  1.24  0.0268  0.94  1.06  2.39e3
h₂  0.04  2.86  0.0653  0.00  2.36  3.54e3
"""
ROBUSTNESS_DIRICHLET = """
φ₁            0.02  3.16  0.7411
φ₂            0.96  1.04  0.0912
φ₃            0.02  2.28  0.2661
truncated_SM  0.00  4.22  1.5181
GSM_CD        0.00  4.66  3.8273
h₁            0.00  5.64  8.9018
"""
RANKING = """
S¹⁰   K  Tr(Σ̂)   0.980  0.2714    0.0054   0.9900   0.9867
S¹⁰   K  κ(Γ_N)  0.980  0.2714    0.0054   0.9900   0.9867
S¹⁰   μ  Tr(Σ̂)   0.780  245.8676  5.5259   0.5700   0.5600
S¹⁰   μ  κ(Γ_N)  0.780  245.8676  5.5259   0.5700   0.5600
R₊¹⁰  K  Tr(Σ̂)   1.000  0.0000    0.0000   1.0000   1.0000
R₊¹⁰  K  κ(Γ_N)  1.000  0.0000    0.0000   1.0000   1.0000
R₊¹⁰  μ  Tr(Σ̂)   0.980  0.6111    0.0122   0.9500   0.9467
R₊¹⁰  μ  κ(Γ_N)  0.980  0.6111    0.0122   0.9500   0.9467
Δ⁹    α  Tr(Σ̂)   0.580  10.5635   0.7870   0.3800   0.3200
Δ⁹    α  κ(Γ_N)  0.080  30.1927   3.9781  -0.1100  -0.1200
"""
LIKELIHOOD_MNIST = """
8   96.17 ± 0.10  96.72 ± 0.39  99.61 ± 1.95  130.02 ± 6.05
32  89.31 ± 0.12  89.81 ± 0.20  90.37 ± 0.65  95.91 ± 2.34
"""
DISTANCE_CELEBA = """
10000   101.07 ± 1.54  140.41 ± 10.13  122.01 ± 6.03  121.51 ± 2.43
20000   83.10 ± 1.10   119.66 ± 11.49  101.79 ± 5.88  99.75 ± 5.68
30000   76.34 ± 1.45   106.44 ± 10.34  87.57 ± 5.91   86.45 ± 4.99
40000   72.12 ± 1.38   100.20 ± 11.57  80.66 ± 5.96   79.82 ± 3.94
50000   68.89 ± 0.69   93.31 ± 11.75   75.77 ± 6.27   74.31 ± 1.50
60000   67.80 ± 1.70   87.77 ± 10.27   73.22 ± 5.90   70.90 ± 2.14
70000   66.94 ± 2.06   85.85 ± 10.72   71.21 ± 5.74   68.87 ± 1.71
80000   65.70 ± 1.97   82.20 ± 9.48    69.48 ± 6.55   66.97 ± 1.13
90000   64.49 ± 1.48   79.80 ± 7.57    67.29 ± 4.67   65.37 ± 1.31
100000  64.10 ± 1.82   78.11 ± 7.15    66.60 ± 5.06   64.15 ± 0.53
"""
DIFFUSIONS = ("I", "sigmoid", "exp(-|z|)", "exp(-z^2)")


def cells(text):
    return [line.replace("±", " ").split() for line in text.strip().splitlines()]


def by_blocks(text, *blocks):
    """Three numbers for each block of parameters, in every row."""
    return {
        block: {row[0].replace("_", " "): tuple(map(float, row[1 + 3 * k : 4 + 3 * k])) for row in cells(text)}
        for k, block in enumerate(blocks)
    }


def runs(text):
    """Row → D → mean and deviation."""
    return {
        int(row[0]): {name: (float(row[1 + 2 * k]), float(row[2 + 2 * k])) for k, name in enumerate(DIFFUSIONS)}
        for row in cells(text)
    }


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (paper.ORTHANT, by_blocks(ERRORS_ORTHANT, "μ", "K")),
        (paper.DIRICHLET, by_blocks(ERRORS_DIRICHLET, "α")),
        (paper.ROBUSTNESS_SOLID_SIMPLEX, by_blocks(ROBUSTNESS_SOLID_SIMPLEX, "μ", "K")),
        (paper.ROBUSTNESS_ORTHANT, by_blocks(ROBUSTNESS_ORTHANT, "μ", "K")),
        (paper.ROBUSTNESS_DIRICHLET, by_blocks(ROBUSTNESS_DIRICHLET, "α")),
        (paper.RANKING, {tuple(row[:3]): tuple(map(float, row[3:])) for row in cells(RANKING)}),
        (paper.VAE_MNIST, runs(LIKELIHOOD_MNIST)),
        (paper.VAE_CELEBA, runs(DISTANCE_CELEBA)),
    ],
    ids=["orthant", "dirichlet", "many simplex", "many orthant", "many dirichlet", "ranking", "mnist", "celeba"],
)
def test_tables(table, expected):
    assert table == expected


def test_the_solid_simplex_has_longer_medians_from_the_text():
    expected = by_blocks(ERRORS_SOLID_SIMPLEX, "μ", "K")
    for name, median in MEDIANS_OF_MU_IN_THE_TEXT.items():
        mean, rounded, deviation = expected["μ"][name]
        assert rounded == round(median, 3)  # the table and the text agree
        expected["μ"][name] = (mean, median, deviation)
    assert expected == paper.SOLID_SIMPLEX


def test_numbers_of_the_text():
    assert paper.IN_TEXT == {"gaussian-orthant": {("μ", 200, "φ₂"): {"mean": 17.37}, ("μ", 200, "h₂"): {"mean": 65.53}}}
    assert paper.MEDIANS_AT_EVERY_SIZE == {
        "dirichlet": {("α", "h₁"): (6.8, 8.6)},
        "gaussian-orthant": {("K", "φ₃"): (10**5, math.inf)},
        "gaussian-simplex": {("K", "h₁"): (10**5, 10**6)},
    }
    assert {name: {block for block, _, _ in rows} for name, rows in paper.BELOW_AT_EVERY_SIZE.items()} == {
        "gaussian-simplex": {"μ", "K"},
        "gaussian-orthant": {"μ", "K"},
        "dirichlet": {"α"},
    }
    for name, rows in paper.BELOW_AT_EVERY_SIZE.items():
        printed = {
            "gaussian-simplex": paper.SOLID_SIMPLEX,
            "gaussian-orthant": paper.ORTHANT,
            "dirichlet": paper.DIRICHLET,
        }
        for block, lower, higher in rows:  # what the text says of every N holds in the table at N = 800
            medians = {estimator: values[1] for estimator, values in printed[name][block].items()}
            assert max(medians[e] for e in lower) < min(medians[e] for e in higher)
    assert paper.EXPONENT == {
        "K": {4 / 3: 8430, 1.6: 5680, 1.8: 11700},
        "μ": {0.2: 0.132, 4 / 3: 0.0038, 1.6: 0.0021, 1.8: 0.0149},
    }
    assert paper.EXPONENT_ABOVE == {"K": {0.2: 10**5, 0.5: 10**5}}
    assert paper.NONCONVEX == {"K": dict.fromkeys((50, 100, 200), 150), "μ": {50: 0.0959, 200: 0.0079}}


def test_nothing_else_is_in_the_file():
    tables = {name for name in vars(paper) if name.isupper()}
    assert tables == {
        "SOLID_SIMPLEX", "ORTHANT", "DIRICHLET", "IN_TEXT", "MEDIANS_AT_EVERY_SIZE", "BELOW_AT_EVERY_SIZE",
        "ROBUSTNESS_SOLID_SIMPLEX",
        "ROBUSTNESS_ORTHANT", "ROBUSTNESS_DIRICHLET", "EXPONENT", "EXPONENT_ABOVE", "NONCONVEX", "RANKING", "VAE_MNIST",
        "VAE_CELEBA",
    }  # fmt: skip
