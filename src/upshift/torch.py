"""PyTorch's words: functions of one sample in, what a DataLoader takes out.

DataLoader(dataset, batch_size=64, collate_fn=up.torch.collate_map(augment))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .api import map as mapped
from .loading import Later

__all__ = ["collate_map"]
torch: Any = Later("torch")


class _Collate:
    """`default_collate([f(sample) for sample in batch])`, the function over all samples at once."""

    def __init__(self, f: Callable[..., Any], words: dict[str, Any]) -> None:
        self.f, self.words = f, words

    def __call__(self, batch: Any) -> Any:
        samples: Any = list(batch)
        first = samples[0]
        if isinstance(first, torch.Tensor) and all(
            isinstance(one, torch.Tensor) and one.shape == first.shape and one.dtype == first.dtype for one in samples
        ):
            samples = torch.stack(samples)
        return _collated(mapped(self.f, samples, **self.words))


def _collated(made: Any) -> Any:
    """What `map` gives, as `default_collate` gives it."""
    if isinstance(made, torch.Tensor):
        return made
    if isinstance(made, np.ndarray) and made.dtype != object:
        return torch.from_numpy(made)
    if isinstance(made, dict):
        return {key: _collated(column) for key, column in made.items()}
    if isinstance(made, tuple):
        columns = [_collated(column) for column in made]
        return type(made)(*columns) if hasattr(made, "_fields") else columns
    return torch.utils.data.default_collate(made)


def collate_map(f: Callable[..., Any], **words: Any) -> Callable[[Any], Any]:
    """A `collate_fn` for a DataLoader that maps `f` over the samples of a batch. `words`: as for `up.map`."""
    return _Collate(f, words)
