"""The numbers that the paper prints, by its own table labels."""

from __future__ import annotations

import math

ErrorTable = dict[str, dict[str, tuple[float, float, float]]]
"""Block of parameters → estimator → (mean, median, standard deviation) of the squared error over 50 trials at N = 800."""

SOLID_SIMPLEX: ErrorTable = {  # tab:trunc-gm-polytope-10d-results; medians of μ with four digits from the main text
    "μ": {
        "φ₁": (0.077, 0.0072, 0.234),
        "φ₂": (0.254, 0.0227, 0.728),
        "φ₃": (739.031, 0.0828, 5051.283),
        "truncated SM": (170.848, 0.1050, 1192.049),
        "h₁": (103.371, 0.0829, 715.077),
    },
    "K": {
        "φ₁": (2.48e4, 2.17e4, 1.51e4),
        "φ₂": (3.58e4, 2.91e4, 2.25e4),
        "φ₃": (1.50e5, 1.26e5, 7.79e4),
        "truncated SM": (5.19e4, 4.77e4, 2.35e4),
        "h₁": (6.05e5, 5.81e5, 1.05e5),
    },
}

ORTHANT: ErrorTable = {  # tab:trunc-gm-pos-orthant-10d-results
    "μ": {
        "φ₁": (0.0038, 0.0032, 0.0023),
        "φ₂": (0.0272, 0.0108, 0.0587),
        "φ₃": (1.9524, 0.0960, 5.5063),
        "h₁": (0.0019, 0.0016, 0.0011),
        "h₂": (0.0060, 0.0043, 0.0056),
    },
    "K": {
        "φ₁": (8.67e3, 8.47e3, 2.44e3),
        "φ₂": (1.81e4, 1.67e4, 6.00e3),
        "φ₃": (2.04e5, 1.90e5, 7.12e4),
        "h₁": (4.89e3, 4.70e3, 1.18e3),
        "h₂": (8.44e3, 7.93e3, 2.33e3),
    },
}

DIRICHLET: ErrorTable = {  # tab:dirichlet-simplex-10d-results
    "α": {
        "φ₁": (0.5066, 0.3871, 0.4244),
        "φ₂": (0.2423, 0.1799, 0.1806),
        "φ₃": (0.6311, 0.4879, 0.5178),
        "truncated SM": (1.1192, 0.7314, 1.0901),
        "GSM CD": (1.5547, 1.3099, 0.9400),
        "h₁": (7.9691, 7.6004, 2.1477),
    }
}

IN_TEXT: dict[str, dict[tuple[str, int, str], dict[str, float]]] = {
    # experiment → (block, N, estimator) → statistics that the text gives for other sample sizes
    "gaussian-orthant": {("μ", 200, "φ₂"): {"mean": 17.37}, ("μ", 200, "h₂"): {"mean": 65.53}},
}

MEDIANS_AT_EVERY_SIZE: dict[str, dict[tuple[str, str], tuple[float, float]]] = {
    # experiment → (block, estimator) → where the text says that the median squared error is at N = 200, 500 and 800
    "gaussian-simplex": {("K", "h₁"): (1e5, 1e6)},
    "gaussian-orthant": {("K", "φ₃"): (1e5, math.inf)},
    "dirichlet": {("α", "h₁"): (6.8, 8.6)},
}

BELOW_AT_EVERY_SIZE: dict[str, tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]] = {
    # experiment → (block, estimators, estimators whose medians are above theirs at N = 200, 500 and 800, as the text says)
    "gaussian-simplex": (
        ("μ", ("φ₁",), ("φ₂", "φ₃", "truncated SM", "h₁")),
        ("K", ("φ₁",), ("φ₂", "φ₃", "truncated SM", "h₁")),
        ("K", ("φ₁", "φ₂", "φ₃", "truncated SM"), ("h₁",)),
    ),
    "gaussian-orthant": (
        ("μ", ("h₁",), ("φ₁", "φ₂", "φ₃", "h₂")),
        ("K", ("h₁",), ("φ₁", "φ₂", "φ₃", "h₂")),
        ("μ", ("φ₁",), ("φ₂", "φ₃")),
        ("K", ("φ₁",), ("φ₂", "φ₃")),
        ("μ", ("φ₁", "φ₂", "h₁", "h₂"), ("φ₃",)),
        ("K", ("φ₁", "φ₂", "h₁", "h₂"), ("φ₃",)),
    ),
    "dirichlet": (
        ("α", ("φ₂",), ("φ₁", "φ₃", "truncated SM", "GSM CD", "h₁")),
        ("α", ("φ₁", "φ₂", "φ₃"), ("truncated SM", "GSM CD", "h₁")),
        ("α", ("φ₁", "φ₂", "φ₃", "truncated SM", "GSM CD"), ("h₁",)),
    ),
}

RobustnessTable = dict[str, dict[str, tuple[float, float, float]]]
"""Block → estimator → (win rate, average rank, median over truths of the median squared error)."""

ROBUSTNESS_SOLID_SIMPLEX: RobustnessTable = {  # tab:trunc-gm-polytope-10d-ablation-results
    "μ": {
        "φ₁": (0.90, 1.16, 0.0118),
        "φ₂": (0.02, 2.20, 0.0209),
        "φ₃": (0.06, 3.68, 0.1005),
        "truncated SM": (0.00, 3.04, 0.0400),
        "h₁": (0.02, 4.92, 2.2088),
    },
    "K": {
        "φ₁": (1.00, 1.00, 4.06e4),
        "φ₂": (0.00, 2.02, 6.20e4),
        "φ₃": (0.00, 4.00, 2.80e5),
        "truncated SM": (0.00, 2.98, 7.95e4),
        "h₁": (0.00, 5.00, 1.52e6),
    },
}

ROBUSTNESS_ORTHANT: RobustnessTable = {  # tab:trunc-gm-pos-orthant-10d-ablation-results
    "μ": {
        "φ₁": (0.06, 2.94, 0.1066),
        "φ₂": (0.04, 3.78, 0.2346),
        "φ₃": (0.04, 4.18, 0.2588),
        "h₁": (0.82, 1.24, 0.0268),
        "h₂": (0.04, 2.86, 0.0653),
    },
    "K": {
        "φ₁": (0.06, 2.66, 4.02e3),
        "φ₂": (0.00, 3.92, 8.68e3),
        "φ₃": (0.00, 5.00, 1.83e5),
        "h₁": (0.94, 1.06, 2.39e3),
        "h₂": (0.00, 2.36, 3.54e3),
    },
}

ROBUSTNESS_DIRICHLET: RobustnessTable = {  # tab:dirichlet-simplex-10d-ablation-results
    "α": {
        "φ₁": (0.02, 3.16, 0.7411),
        "φ₂": (0.96, 1.04, 0.0912),
        "φ₃": (0.02, 2.28, 0.2661),
        "truncated SM": (0.00, 4.22, 1.5181),
        "GSM CD": (0.00, 4.66, 3.8273),
        "h₁": (0.00, 5.64, 8.9018),
    }
}

EXPONENT: dict[str, dict[float, float]] = {  # text of "Effect of Power Barrier Exponent": median squared errors
    "μ": {
        0.2: 0.132,
        4 / 3: 0.0038,
        1.6: 0.0021,
        1.8: 0.0149,
    },  # 0.132 is what small exponents reach: the smallest does
    "K": {4 / 3: 8.43e3, 1.6: 5.68e3, 1.8: 1.17e4},
}

EXPONENT_ABOVE: dict[str, dict[float, float]] = {"K": {0.2: 1e5, 0.5: 1e5}}
"""Block → p → what the median squared error exceeds, by the same text."""

NONCONVEX: dict[
    str, dict[int, float]
] = {  # text of "Evaluation Under Non-Convex Support": medians of the hull estimator
    "μ": {50: 0.0959, 200: 0.0079},
    "K": {50: 150.0, 100: 150.0, 200: 150.0},  # "plateauing around 150 across all sample sizes"
}

RANKING: dict[tuple[str, str, str], tuple[float, float, float, float, float]] = {  # tab:candidate-ranking-diagnostics
    ("S¹⁰", "K", "Tr(Σ̂)"): (0.98, 0.2714, 0.0054, 0.99, 0.9867),
    ("S¹⁰", "K", "κ(Γ_N)"): (0.98, 0.2714, 0.0054, 0.99, 0.9867),
    ("S¹⁰", "μ", "Tr(Σ̂)"): (0.78, 245.8676, 5.5259, 0.57, 0.56),
    ("S¹⁰", "μ", "κ(Γ_N)"): (0.78, 245.8676, 5.5259, 0.57, 0.56),
    ("R₊¹⁰", "K", "Tr(Σ̂)"): (1.0, 0.0, 0.0, 1.0, 1.0),
    ("R₊¹⁰", "K", "κ(Γ_N)"): (1.0, 0.0, 0.0, 1.0, 1.0),
    ("R₊¹⁰", "μ", "Tr(Σ̂)"): (0.98, 0.6111, 0.0122, 0.95, 0.9467),
    ("R₊¹⁰", "μ", "κ(Γ_N)"): (0.98, 0.6111, 0.0122, 0.95, 0.9467),
    ("Δ⁹", "α", "Tr(Σ̂)"): (0.58, 10.5635, 0.787, 0.38, 0.32),
    ("Δ⁹", "α", "κ(Γ_N)"): (0.08, 30.1927, 3.9781, -0.11, -0.12),
}
"""(domain, block, score) → Top-1 accuracy, worst regret, mean regret, Spearman's ρ, Kendall's τ."""

Runs = tuple[float, float]
"""Mean and deviation of five trainings."""

VAE_MNIST: dict[int, dict[str, Runs]] = {  # tab:mnist_implicit_vae_results_multi_runs_averaged
    8: {"I": (96.17, 0.10), "sigmoid": (96.72, 0.39), "exp(-|z|)": (99.61, 1.95), "exp(-z^2)": (130.02, 6.05)},
    32: {"I": (89.31, 0.12), "sigmoid": (89.81, 0.20), "exp(-|z|)": (90.37, 0.65), "exp(-z^2)": (95.91, 2.34)},
}
"""Latent dimension → D → negative log-likelihood in nats."""

VAE_CELEBA: dict[int, dict[str, Runs]] = {  # tab:celeba_implicit_vae_fid_results_multi_runs_averaged
    iteration: dict(zip(("I", "sigmoid", "exp(-|z|)", "exp(-z^2)"), runs, strict=True))
    for iteration, runs in {
        10_000: ((101.07, 1.54), (140.41, 10.13), (122.01, 6.03), (121.51, 2.43)),
        20_000: ((83.10, 1.10), (119.66, 11.49), (101.79, 5.88), (99.75, 5.68)),
        30_000: ((76.34, 1.45), (106.44, 10.34), (87.57, 5.91), (86.45, 4.99)),
        40_000: ((72.12, 1.38), (100.20, 11.57), (80.66, 5.96), (79.82, 3.94)),
        50_000: ((68.89, 0.69), (93.31, 11.75), (75.77, 6.27), (74.31, 1.50)),
        60_000: ((67.80, 1.70), (87.77, 10.27), (73.22, 5.90), (70.90, 2.14)),
        70_000: ((66.94, 2.06), (85.85, 10.72), (71.21, 5.74), (68.87, 1.71)),
        80_000: ((65.70, 1.97), (82.20, 9.48), (69.48, 6.55), (66.97, 1.13)),
        90_000: ((64.49, 1.48), (79.80, 7.57), (67.29, 4.67), (65.37, 1.31)),
        100_000: ((64.10, 1.82), (78.11, 7.15), (66.60, 5.06), (64.15, 0.53)),
    }.items()
}
"""Iteration → D → Fréchet distance, latent dimension 32."""
