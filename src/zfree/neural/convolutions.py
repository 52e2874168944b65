"""Convolutional networks for colour images, on rows of pixels: channels, then lines, then columns."""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor, nn

from zfree.errors import SpecificationError
from zfree.neural.networks import ACTIVATIONS
from zfree.neural.pairs import Networks, Pair
from zfree.neural.sparse_rows import SparseRows
from zfree.neural.turns import seeded

GROWTH = (1, 2, 4, 8)
"""Channels of the four convolutions, in multiples of the width. Each halves the image."""
HALVED = 2 ** len(GROWTH)
LAYERS: dict[str, type[nn.Module]] = {**ACTIVATIONS, "relu": nn.ReLU}
"""With ReLU for encoders, of which no second derivative is taken."""


class ConvolutionalPair(Pair):
    """(x, z) to `n_outputs` numbers: z becomes one more channel of the image x, then four 5 × 5 convolutions with stride 2.

    The networks of Song et al. (2019) for CelebA, with ReLU in the encoder and softplus in the score network, which needs a second
    derivative. The first convolution is linear, so its part for x is computed once and kept while z changes.

    Parameters
    ----------
    n_second, n_outputs : int
        Columns of z (or of the noise) and of the output.
    side : int
        Height and width of the images, a multiple of 16.
    channels : int
    width : int
        Channels after the first convolution; 64 as published.
    activation : str
        ``"relu"`` or ``"softplus"``, or another of the perceptron's.
    """

    def __init__(
        self,
        n_second: int,
        n_outputs: int,
        *,
        side: int = 64,
        channels: int = 3,
        width: int = 64,
        activation: str = "softplus",
    ) -> None:
        super().__init__()
        check_side(side)
        self.n_second, self.side, self.channels = n_second, side, channels
        if activation not in LAYERS:
            raise SpecificationError(f"activation must be one of {', '.join(LAYERS)}; got {activation!r}.")
        act = LAYERS[activation]
        self.spread = nn.Sequential(nn.Linear(n_second, side**2), act())
        self.first = nn.Conv2d(channels, width, 5, stride=2, padding=2)
        self.second = nn.Conv2d(1, width, 5, stride=2, padding=2, bias=False)
        layers: list[nn.Module] = [act()]
        for before, after in pairwise(GROWTH):
            layers += [nn.Conv2d(before * width, after * width, 5, stride=2, padding=2), act()]
        flat = (side // HALVED) ** 2 * GROWTH[-1] * width
        self.rest = nn.Sequential(*layers, nn.Flatten(), nn.Linear(flat, 512), act(), nn.Linear(512, n_outputs))

    def image(self, x: Tensor | SparseRows) -> Tensor:
        assert isinstance(x, Tensor)  # takes_sparse says so
        if x.shape[1] != self.channels * self.side**2:
            raise SpecificationError(
                f"the network is for {self.channels} × {self.side} × {self.side} pixels, the rows have {x.shape[1]}."
            )
        out: Tensor = self.first(x.reshape(-1, self.channels, self.side, self.side))
        return out

    def join(self, image: Tensor, z: Tensor) -> Tensor:
        channel = self.spread(z).reshape(-1, 1, self.side, self.side)
        out: Tensor = self.rest(image + self.second(channel))
        return out


def convolutional_decoder(latent: int, *, side: int = 64, channels: int = 3, width: int = 64) -> nn.Sequential:
    """z to rows of pixels in [−1, 1], for Gaussian pixels: the mirror of :class:`ConvolutionalPair`, with ReLU and a last tanh."""
    check_side(side)
    small = side // HALVED
    layers: list[nn.Module] = [
        nn.Linear(latent, GROWTH[-1] * width * small**2),
        nn.Unflatten(1, (GROWTH[-1] * width, small, small)),
    ]
    counts = [factor * width for factor in reversed(GROWTH)] + [channels]
    for before, after in pairwise(counts):
        layers += [nn.ConvTranspose2d(before, after, 5, stride=2, padding=2, output_padding=1), nn.ReLU()]
    return nn.Sequential(*layers[:-1], nn.Tanh(), nn.Flatten())


def convolutional_networks(
    latent: int, *, side: int = 64, channels: int = 3, width: int = 64, random_state: int = 0
) -> Networks:
    """Encoder, decoder and score network for images, with as many columns of noise as of z; for ``pixels="gaussian"``."""
    with seeded(random_state):
        encoder, score = (
            ConvolutionalPair(latent, latent, side=side, channels=channels, width=width, activation=activation)
            for activation in ("relu", "softplus")
        )
        return Networks(encoder, convolutional_decoder(latent, side=side, channels=channels, width=width), score)


def check_side(side: int) -> None:
    """Refuse images that cannot be halved four times."""
    if side < HALVED or side % HALVED:
        raise SpecificationError(f"side must be a multiple of {HALVED}, as four layers halve the image; got {side!r}.")
