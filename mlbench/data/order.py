"""Which samples form which batch: pure functions of the seed, at any number of ranks.

The training set is read in epochs, each a new permutation; batch ``k`` takes the next
``global_batch_size`` samples of that endless sequence. Nothing is dropped at the end of an epoch:
a batch may hold the last samples of one and the first of the next, as MLPerf's rules allow.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mlbench.seeds import derive_seed


def epoch_permutation(seed: int, epoch: int, num_samples: int) -> NDArray[np.int64]:
    """Return the order of the samples in an epoch, (num_samples,)."""
    return np.random.default_rng(derive_seed(seed, "order", epoch)).permutation(num_samples)


@dataclass(slots=True)
class SampleOrder:
    """The endless sequence of training samples, cut into global batches."""

    seed: int
    num_samples: int
    global_batch_size: int
    _epochs: dict[int, NDArray[np.int64]] = field(default_factory=dict)

    def global_batch(self, step: int) -> NDArray[np.int64]:
        """Return the sample indices of the batch of ``step``, counted from 0: (batch size,)."""
        start = step * self.global_batch_size
        places = np.arange(start, start + self.global_batch_size)
        epochs, within = np.divmod(places, self.num_samples)
        batch = np.empty_like(places)
        for epoch in np.unique(epochs):
            here = epochs == epoch
            batch[here] = self._permutation(int(epoch))[within[here]]
        return batch

    def _permutation(self, epoch: int) -> NDArray[np.int64]:
        if epoch not in self._epochs:
            self._epochs = {e: order for e, order in self._epochs.items() if e >= epoch - 1}
            self._epochs[epoch] = epoch_permutation(self.seed, epoch, self.num_samples)
        return self._epochs[epoch]


def rank_slice(num_samples: int, rank: int, world_size: int) -> slice:
    """Return the contiguous share of ``rank``: sizes differ by at most one, none is left out."""
    share, extra = divmod(num_samples, world_size)
    start = rank * share + min(rank, extra)
    return slice(start, start + share + (rank < extra))
