"""What an iteration of the implicit autoencoder costs, against a plain one with one more network: `make bench-vae`."""

from __future__ import annotations

import sys
import time

import numpy as np
import torch
from torch import nn

import zfree as zf
from benchmarks.table import print_table
from zfree.neural import PairNetwork
from zfree.neural.pairs import Networks, decoder_network
from zfree.neural.pixels import BernoulliPixels
from zfree.neural.vae_training import AutoencoderTrainer

PIXELS, BATCH = 784, 128


class Yardstick:
    """A Gaussian encoder with the same layers, plus one forward and one backward pass of the score network."""

    def __init__(self, latent: int, pixels: np.ndarray) -> None:
        self.encoder = decoder_network(PIXELS, 2 * latent)
        self.decoder = decoder_network(latent, PIXELS)
        self.score = PairNetwork(PIXELS, latent, latent)
        rmsprop = torch.optim.RMSprop
        self.first = rmsprop(self.score.parameters(), lr=1e-3, alpha=0.99, eps=1e-8)
        self.second = rmsprop([*self.encoder.parameters(), *self.decoder.parameters()], lr=1e-3, alpha=0.99, eps=1e-8)
        self.pixels, self.noise = torch.as_tensor(pixels), torch.Generator().manual_seed(0)

    def step(self) -> None:
        x = BernoulliPixels().draw(
            self.pixels[torch.randperm(len(self.pixels), generator=self.noise)[:BATCH]], self.noise
        )
        mean, log_sd = self.encoder(x).chunk(2, dim=1)
        z = mean + torch.exp(log_sd) * torch.randn(mean.shape, generator=self.noise)
        misfit = nn.functional.binary_cross_entropy_with_logits(self.decoder(z), x, reduction="none").sum(dim=1)
        gap = 0.5 * (mean**2 + torch.exp(2 * log_sd) - 2 * log_sd - 1).sum(dim=1)
        loss = (misfit + gap).mean()
        self.second.zero_grad()
        loss.backward()
        self.second.step()
        extra = (self.score(x, z.detach()) ** 2).sum(dim=1).mean()
        self.first.zero_grad()
        extra.backward()
        self.first.step()


def main(argv: list[str]) -> int:
    torch.set_num_threads(1)
    pixels = (255 * (np.random.default_rng(0).uniform(size=(10 * BATCH, PIXELS)) < 0.13)).astype(np.uint8)
    rows = []
    for latent in (8, 32):
        torch.manual_seed(0)
        yardstick = Yardstick(latent, pixels)
        networks = Networks(
            PairNetwork(PIXELS, latent, latent), decoder_network(latent, PIXELS), PairNetwork(PIXELS, latent, latent)
        )
        ours = AutoencoderTrainer(networks, zf.Identity(), pixels, BATCH, 1e-3, 0)
        times: dict[str, list[float]] = {"yardstick": [], "ours": []}
        for k in range(400):  # in turns
            for name, step in (("yardstick", yardstick.step), ("ours", ours.step)):
                start = time.process_time()
                step()
                if k >= 10:
                    times[name].append(1e3 * (time.process_time() - start))
        plain, implicit = (float(np.median(times[name])) for name in ("yardstick", "ours"))
        ratio = implicit / plain
        rows.append([str(latent), f"{plain:.2f}", f"{implicit:.2f}", f"{ratio:.2f}", "yes" if ratio <= 1.25 else "NO"])
    print_table(
        "Processor time of one iteration, one thread, 128 images: a Gaussian encoder plus a pass of the score network, and ours (target ≤ 1.25)",
        ["latent", "yardstick, ms", "ours, ms", "ratio", "met"],
        rows,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
