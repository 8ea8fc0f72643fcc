"""Base of everything that is written to or read from a file: strict, frozen, documented."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A frozen section of a config or a stored file.

    Unknown keys, and values of another type than declared, are errors: a typing mistake must
    not become a default. Strings are read as enums and paths, since YAML and JSON have neither;
    the docstring under a field becomes its description in the JSON schema.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        use_attribute_docstrings=True,
        allow_inf_nan=False,
        validate_default=True,
        ser_json_inf_nan="null",
    )
