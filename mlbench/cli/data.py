"""``mlbench data``: corpora to prepared samples."""

import os
from pathlib import Path

import click

from mlbench.cli.options import config_argument, settings_option


@click.group()
def data() -> None:
    """Prepare and inspect training data."""


@data.command()
@config_argument
@settings_option
@click.option("--dry-run", is_flag=True, help="Print what would be prepared, and where.")
def prepare(name: str, settings: tuple[str, ...], dry_run: bool) -> None:
    """Prepare the data that a config names; nothing is done twice.

    \b
    Example: mlbench data prepare bert-open-tiny-2xcpu-dp
    """
    from mlbench.config.load import load_config

    section = load_config(name, settings, os.environ).config.data
    if dry_run:
        click.echo(section.model_dump_json(indent=2))
        return
    from mlbench.data.prepare import prepare as prepare_data

    prepare_data(section.prepare, section.path, lambda text: click.echo(text, err=True))
    click.echo(str(section.path))


@data.command()
@click.argument("folder", type=click.Path(path_type=Path))
def info(folder: Path) -> None:
    """Print the manifest of a prepared folder."""
    from mlbench.data.manifest import load_manifest

    click.echo(load_manifest(folder).model_dump_json(indent=2))


@data.command()
@click.argument("folder", type=click.Path(path_type=Path))
def verify(folder: Path) -> None:
    """Compare every shard of a prepared folder with its manifest."""
    from mlbench.data.prepare import verify as verify_data

    manifest = verify_data(folder)
    count = manifest.train.num_samples + manifest.eval.num_samples
    click.echo(f"{folder}: {count} samples as the manifest says")


@data.command()
@config_argument
@settings_option
@click.option("--size", type=click.IntRange(min=100), required=True, help="Most tokens.")
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), required=True, help="File."
)
def vocabulary(name: str, settings: tuple[str, ...], size: int, output: Path) -> None:
    """Train a WordPiece vocabulary on the corpus of a config.

    Training breaks ties at random: keep the file, do not train it anew for each run.
    """
    from mlbench.atomic import write_atomically
    from mlbench.config.load import load_config
    from mlbench.data.corpora import read_corpus
    from mlbench.data.tokenise import train_vocabulary

    corpus = read_corpus(load_config(name, settings, os.environ).config.data.prepare)
    sentences = (text for document in corpus.documents for text in document.sentences)
    trained = train_vocabulary(sentences, size)
    write_atomically(output, "".join(f"{token}\n" for token in trained.tokens))
    click.echo(f"{output}: {len(trained)} tokens, sha256 {trained.sha256}")
