"""Streams of randomness are named, keyed and independent."""

from mlbench.seeds import SEED_BITS, derive_seed, fresh_seed


def test_a_stream_depends_on_all_of_its_key_and_on_nothing_else() -> None:
    seeds = {
        derive_seed(base, stream, *keys)
        for base in (0, 1)
        for stream in ("order", "init")
        for keys in ((), (0,), (1,), (0, 1), (1, 0))
    }
    assert len(seeds) == 20
    assert derive_seed(7, "order", 3) == 5148835857421339110  # Old runs must be repeatable.


def test_seeds_fit_a_signed_integer() -> None:
    assert all(0 <= derive_seed(n, "x") < 2**63 for n in range(100))
    drawn = {fresh_seed() for _ in range(50)}
    assert len(drawn) > 45
    assert max(drawn) < 2**SEED_BITS
