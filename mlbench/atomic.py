"""Files that appear whole or not at all."""

import os
from pathlib import Path


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader, or a crash, meets the old content or the new."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    with scratch.open("wb") as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(path)
