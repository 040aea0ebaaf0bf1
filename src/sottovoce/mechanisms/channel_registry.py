"""Every channel that only strategies use: what its reports mean depends on the queries they are for."""

from __future__ import annotations

from typing import Final

from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.mechanisms.fourier import Fourier
from sottovoce.mechanisms.haar import Haar
from sottovoce.mechanisms.hierarchical import Hierarchical
from sottovoce.mechanisms.matrix_channel import MatrixChannel

__all__ = ["CHANNELS", "typical"]

CHANNELS: Final[dict[str, type[ChannelMechanism]]] = {
    kind.name: kind for kind in (Hierarchical, Haar, Fourier, MatrixChannel)
}


def typical(name: str, domain_size: int, epsilon: float) -> ChannelMechanism:
    """An instance over so many values, to be audited; a matrix channel has the size of its largest miniature."""
    if name == Hierarchical.name:
        return Hierarchical(domain_size, epsilon, 2)
    if name == Haar.name:
        return Haar(domain_size, epsilon)
    if name == Fourier.name:
        return Fourier(domain_size, epsilon, (domain_size,), 1)
    return CHANNELS[name].miniatures(epsilon)[-1]
