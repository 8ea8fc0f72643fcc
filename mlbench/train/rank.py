"""Which rank a process is, by the variables that every launcher sets."""

from collections.abc import Mapping
from dataclasses import dataclass

from mlbench.errors import LaunchError

VARIABLES = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
"""What torch calls the ``env://`` rendezvous."""


@dataclass(frozen=True, slots=True)
class Rank:
    """The place of a process among the ranks."""

    rank: int
    local_rank: int
    world_size: int


def rank_of(environment: Mapping[str, str], world_size: int) -> Rank:
    """Return the place that the environment gives this process.

    Raises:
        LaunchError: variables are missing or no numbers, or contradict each other or the plan.
    """
    missing = [name for name in VARIABLES if not environment.get(name)]
    if missing:
        raise LaunchError(f"the launcher did not set {', '.join(missing)}")
    try:
        rank, local_rank, size = (int(environment[name]) for name in VARIABLES[:3])
    except ValueError as error:
        raise LaunchError(f"RANK, LOCAL_RANK and WORLD_SIZE must be integers: {error}") from error
    if size != world_size:
        raise LaunchError(f"WORLD_SIZE is {size}, the plan has {world_size} ranks")
    if not 0 <= local_rank <= rank < size:
        raise LaunchError(f"RANK {rank} and LOCAL_RANK {local_rank} do not fit WORLD_SIZE {size}")
    return Rank(rank, local_rank, size)
