"""What a step of training costs, as ratios measured side by side in one run: `make bench-neural`."""

from __future__ import annotations

import sys
import time
import tracemalloc

import numpy as np
import torch

import zfree as zf
from benchmarks.table import print_table
from zfree.neighbourhoods import SoftNeighbourhood
from zfree.neural import Perceptron, WeightTensors, contrast_rule, gsm_rule, hutchinson_rule, score_of

BATCH = 128


def _median_ms(steps: dict, repeats: int = 15) -> dict[str, float]:
    """Median time of each function, taking turns."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for k in range(repeats + 2):
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            if k >= 2:
                times[name].append(1e3 * (time.perf_counter() - start))
    return {name: float(np.median(values)) for name, values in times.items()}


def _rows(domain: zf.Domain, n: int, rng: np.random.Generator) -> np.ndarray:
    return (
        rng.dirichlet(np.ones(domain.dimension), n)
        if domain.chart is not None
        else rng.exponential(size=(n, domain.dimension))
    )


def probes(d: int = 1000) -> None:
    """A whole step (weight, loss, backward, update) of Hutchinson GSM in d = 1000, against D = I with the same network."""
    rng = np.random.default_rng(0)
    table = []
    for name, domain in (("Orthant", zf.Orthant(d)), ("Simplex", zf.Simplex(d))):
        X = torch.as_tensor(_rows(domain, BATCH, rng)).float()
        network = Perceptron(d, 1, hidden=(256, 256)).standardise(X.double().numpy())
        optimiser = torch.optim.Adam(network.parameters())

        def step(generator, where, X=X, network=network, optimiser=optimiser):
            weight = WeightTensors.at(generator, where, X)
            loss = hutchinson_rule(score_of(network), X, weight).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()

        found = _median_ms(
            {
                "D = I": lambda step=step: step(zf.Identity(), zf.RealSpace(d)),
                "barrier": lambda domain=domain: step(zf.Barrier(1.2, 0.0), domain),
            }
        )
        ratio = found["barrier"] / found["D = I"]
        table.append(
            [
                f"{name}({d})",
                f"{found['D = I']:.1f}",
                f"{found['barrier']:.1f}",
                f"{ratio:.2f}",
                "yes" if ratio <= 3 else "NO",
            ]
        )
    print_table(
        f"Hutchinson GSM, one step with {BATCH} rows (target: at most 3 × the D = I loss)",
        ["domain", "D = I, ms", "barrier, ms", "ratio", "met"],
        table,
    )


def memory() -> None:
    """Memory of the weight against the number of columns: linear is a ratio of 2 per doubling."""
    rng = np.random.default_rng(0)
    table, last = [], {}
    for d in (500, 1000, 2000):
        for name, domain in (("Orthant", zf.Orthant(d)), ("Simplex", zf.Simplex(d))):
            X = _rows(domain, BATCH, rng)
            tracemalloc.start()
            WeightTensors.at(zf.Barrier(1.2, 0.0), domain, X)
            peak = tracemalloc.get_traced_memory()[1] / 2**20
            tracemalloc.stop()
            table.append([f"{name}({d})", f"{peak:.1f}", f"{peak / last[name]:.2f}" if name in last else ""])
            last[name] = peak
    print_table("Peak memory of evaluating the weight, MB (numpy)", ["domain", "MB", "over half the columns"], table)


def flow(d: int = 10, repeats: int = 300) -> None:
    """Time and gradient noise of the losses that need energies only, against those that take derivatives."""
    rng = np.random.default_rng(0)
    domain, generator = zf.Orthant(d), zf.Barrier(1.2, 0.0)
    X = torch.as_tensor(rng.exponential(size=(BATCH, d)))
    network = Perceptron(d, 1, hidden=(64, 64)).double()
    weight = WeightTensors.at(generator, domain, X)
    parameters = list(network.parameters())
    rows = X.numpy()

    def gradient(rule) -> torch.Tensor:
        found = torch.autograd.grad(rule.mean(), parameters, allow_unused=True)
        return torch.cat(
            [(torch.zeros_like(p) if g is None else g).ravel() for g, p in zip(found, parameters, strict=True)]
        )

    def flow_of(epsilon: float, pairs: bool):
        near = SoftNeighbourhood(generator, epsilon).draw(domain, rows, rng, count=1 if pairs else 2, antithetic=pairs)
        return contrast_rule(network, X, near)

    losses = {
        "exact": lambda: gsm_rule(score_of(network), X, weight),
        "hutchinson, 1 probe": lambda: hutchinson_rule(score_of(network), X, weight),
        "flow, ε = 0.01, 2 neighbours": lambda: flow_of(0.01, False),
        "flow, ε = 0.01, antithetic pair": lambda: flow_of(0.01, True),
        "flow, ε = 0.1, antithetic pair": lambda: flow_of(0.1, True),
    }
    times = _median_ms({name: lambda rule=rule: gradient(rule()) for name, rule in losses.items()})
    reference = gradient(losses["exact"]())
    table = []
    for name, rule in losses.items():
        draws = torch.stack([gradient(rule()) for _ in range(repeats if name != "exact" else 2)])
        noise = float(draws.std(dim=0).norm() / reference.norm())
        bias = float((draws.mean(dim=0) - reference).norm() / reference.norm())
        table.append([name, f"{times[name]:.2f}", f"{times[name] / times['exact']:.2f}", f"{noise:.3f}", f"{bias:.3f}"])
    print_table(
        f"Gradient of one batch of {BATCH} rows in {d} columns: time, noise and bias relative to the exact gradient "
        f"(the bias includes {1 / np.sqrt(repeats):.2f} × the noise)",
        ["loss", "ms", "over exact", "noise", "bias"],
        table,
    )


STUDIES = {"probes": probes, "memory": memory, "flow": flow}


def main(argv: list[str]) -> int:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    for name in argv or STUDIES:
        STUDIES[name]()
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
