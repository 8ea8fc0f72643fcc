"""``mlbench config``: look at configs without running them."""

import json
import os

import click

from mlbench.cli.options import config_argument, settings_option


@click.group()
def config() -> None:
    """List, show and validate configs."""


@config.command("list")
def list_configs() -> None:
    """List the presets of the folder configs/."""
    from mlbench.config.load import load_config, presets

    for file in presets():
        click.echo(f"{file.stem:<32} {load_config(str(file)).config.description}")


@config.command()
@config_argument
@settings_option
@click.option("--origin", is_flag=True, help="Say where each value was set.")
def show(name: str, settings: tuple[str, ...], origin: bool) -> None:
    """Print the whole config, defaults filled in.

    \b
    Example: mlbench config show bert-closed-like --origin
    """
    from mlbench.config.load import load_config
    from mlbench.config.show import to_yaml

    click.echo(to_yaml(load_config(name, settings, os.environ), origins=origin), nl=False)


@config.command()
@click.argument("names", metavar="CONFIG...", nargs=-1, required=True)
@settings_option
def validate(names: tuple[str, ...], settings: tuple[str, ...]) -> None:
    """Check configs; every problem of a file is reported at once.

    \b
    Example: mlbench config validate configs/*.yaml
    """
    from mlbench.config.load import load_config
    from mlbench.errors import ConfigError

    problems = []
    for name in names:
        try:
            load_config(name, settings, os.environ)
            click.echo(f"{name}: valid")
        except ConfigError as error:
            problems.append(str(error))
    if problems:
        raise ConfigError("\n".join(problems))


@config.command()
def schema() -> None:
    """Print the JSON schema of a config, for editors.

    \b
    Example: mlbench config schema > mlbench.schema.json
    then begin a config with: # yaml-language-server: $schema=mlbench.schema.json
    """
    from mlbench.config import RunConfig

    click.echo(json.dumps(RunConfig.model_json_schema(), indent=2))
