"""One base seed, many named random streams.

Every random draw of a run comes from a stream that is named for its purpose (``"init"``,
``"order"``, ``"dropout"``) and keyed by what it depends on (rank, epoch, document). Streams are
independent of each other and of how many of them exist, so a run with another number of
processes draws the same sample order.
"""

import hashlib
import secrets

SEED_BITS = 31
"""Seeds stay below 2**31: every library, and MLPerf's seed checker, takes them as an int."""


def fresh_seed() -> int:
    """Return a new base seed from the operating system's randomness, as MLPerf demands."""
    return secrets.randbits(SEED_BITS)


def derive_seed(base: int, stream: str, *keys: int) -> int:
    """Return the seed of a stream: a 63-bit int that depends on all arguments and nothing else."""
    text = ":".join([str(base), stream, *map(str, keys)])
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
