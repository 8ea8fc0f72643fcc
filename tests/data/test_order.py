"""Every sample once an epoch, the same batches whoever reads them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlbench.data.order import SampleOrder, epoch_permutation, rank_slice


@given(num_samples=st.integers(1, 60), size=st.integers(1, 25), seed=st.integers(0, 5))
def test_each_epoch_holds_every_sample_once(num_samples: int, size: int, seed: int) -> None:
    order = SampleOrder(seed, num_samples, size)
    num_steps = -(-3 * num_samples // size)
    drawn = np.concatenate([order.global_batch(step) for step in range(num_steps)])
    for epoch in range(3):
        part = drawn[epoch * num_samples : (epoch + 1) * num_samples]
        assert sorted(part) == list(range(num_samples))


def test_a_batch_is_a_function_of_seed_and_step_alone() -> None:
    forward, backward = SampleOrder(1, 100, 7), SampleOrder(1, 100, 7)
    batches = [forward.global_batch(step) for step in range(40)]
    for step in reversed(range(40)):
        np.testing.assert_array_equal(backward.global_batch(step), batches[step])


def test_epochs_and_seeds_give_other_orders() -> None:
    orders = {tuple(epoch_permutation(seed, epoch, 50)) for seed in (1, 2) for epoch in (0, 1)}
    assert len(orders) == 4


@pytest.mark.parametrize(("num_samples", "world_size"), [(10_000, 3472), (7, 3), (3, 8), (0, 2)])
def test_shares_of_ranks_are_disjoint_complete_and_even(num_samples: int, world_size: int) -> None:
    shares = [rank_slice(num_samples, rank, world_size) for rank in range(world_size)]
    assert [n for share in shares for n in range(num_samples)[share]] == list(range(num_samples))
    sizes = {share.stop - share.start for share in shares}
    assert max(sizes) - min(sizes) <= 1
