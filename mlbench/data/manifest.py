"""The manifest of a prepared data set, as read before a run: no numpy, no Arrow."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from mlbench.data import MANIFEST_NAME, Manifest, PrepareSpec
from mlbench.errors import DataError


def load_manifest(folder: Path) -> Manifest:
    """Return the manifest of a prepared folder.

    Raises:
        DataError: there is none, or it is not one this version can read.
    """
    file = folder / MANIFEST_NAME
    try:
        return Manifest.model_validate_json(file.read_bytes())
    except FileNotFoundError as error:
        raise DataError(
            f"{folder}: no prepared data here; make them: mlbench data prepare CONFIG"
        ) from error
    except (OSError, ValidationError) as error:
        raise DataError(f"{file}: cannot be read: {error}") from error


def require_spec(manifest: Manifest, spec: PrepareSpec, folder: Path) -> None:
    """Check that the data were prepared as ``spec`` says.

    Raises:
        DataError: naming every setting that differs.
    """
    if manifest.spec != spec:
        changed = ", ".join(_differences(manifest.spec, spec))
        raise DataError(
            f"{folder}: was prepared with other settings than data.prepare ({changed}); "
            "set data.path to a new folder, or remove this one"
        )


def _differences(old: PrepareSpec, new: PrepareSpec) -> Iterator[str]:
    for key in PrepareSpec.model_fields:
        before, after = getattr(old, key), getattr(new, key)
        if before != after:
            yield f"{key}: {before} there, {after} asked"
