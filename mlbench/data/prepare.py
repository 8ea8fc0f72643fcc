"""Corpus to prepared data set: reads, tokenises, makes samples, writes shards and manifest.

The folder appears whole or not at all: it is built beside its final place and renamed.
"""

import hashlib
import random
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import mlbench
from mlbench.data import MANIFEST_NAME, Corpus, Manifest, PrepareSpec
from mlbench.data.corpora import read_corpus
from mlbench.data.instances import Article, Sample, SampleMaker, Sentence
from mlbench.data.manifest import load_manifest, require_spec
from mlbench.data.segment import cut_articles
from mlbench.data.store import MAX_VOCABULARY, SampleStore, write_split
from mlbench.data.tokenise import Vocabulary, load_vocabulary
from mlbench.errors import DataError
from mlbench.seeds import derive_seed

Say = Callable[[str], None]
"""Told what is being done, for progress."""


def prepare(spec: PrepareSpec, folder: Path, say: Say) -> Manifest:
    """Prepare ``folder``; a folder that already holds exactly this data set is left alone.

    Raises:
        DataError: the corpus is unusable, or the folder holds something else.
    """
    if (folder / MANIFEST_NAME).is_file():
        return _existing(spec, folder, say)
    if folder.exists() and any(folder.iterdir()):
        raise DataError(f"{folder}: holds files but no {MANIFEST_NAME}; choose an empty folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        manifest = _build(spec, scratch, say)
        (scratch / MANIFEST_NAME).write_text(manifest.model_dump_json(indent=2) + "\n", "utf-8")
        scratch.chmod(0o755)  # mkdtemp's is private to its user.
        scratch.replace(folder)
    except OSError as error:
        raise DataError(f"{folder}: cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return manifest


def _existing(spec: PrepareSpec, folder: Path, say: Say) -> Manifest:
    manifest = load_manifest(folder)
    require_spec(manifest, spec, folder)
    say(f"{folder} is up to date")
    return manifest


def verify(folder: Path) -> Manifest:
    """Return the manifest after comparing every shard with it.

    Raises:
        DataError: a shard is missing, cut or holds other values than were written.
    """
    manifest = load_manifest(folder)
    for split in (manifest.train, manifest.eval):
        store = SampleStore(folder / split.file)
        if len(store) != split.num_samples or store.content_sha256() != split.content_sha256:
            raise DataError(
                f"{folder / split.file}: differs from the manifest; prepare the data again"
            )
    return manifest


@dataclass(frozen=True, slots=True)
class _Tokenised:
    train: list[Article]
    eval: list[Article]


def _build(spec: PrepareSpec, folder: Path, say: Say) -> Manifest:
    vocabulary = load_vocabulary(spec.vocabulary)
    if len(vocabulary) > MAX_VOCABULARY:
        raise DataError(f"vocabulary {spec.vocabulary}: more than {MAX_VOCABULARY} tokens")
    corpus = read_corpus(spec)
    say(f"corpus {corpus.name}: {len(corpus.documents)} documents")
    articles = _tokenise(corpus, vocabulary, spec)
    say(f"tokenised: {len(articles.train)} training and {len(articles.eval)} evaluation articles")
    for name, split in (("training", articles.train), ("evaluation", articles.eval)):
        if len(split) < 2:
            raise DataError(
                f"the {name} set has {len(split)} document(s), next-sentence pairs need two: "
                "add text, set data.prepare.article_tokens to cut long documents, or set "
                "data.prepare.eval_fraction to share them otherwise"
            )
    maker = SampleMaker(articles.train, vocabulary, spec)
    passes = (maker.samples(duplication) for duplication in range(spec.duplication))
    train = write_split(folder / "train.arrow", (sample for one in passes for sample in one))
    say(f"training set: {train.num_samples} samples, {train.num_tokens} tokens")
    held_out = list(SampleMaker(articles.eval, vocabulary, spec).samples(spec.duplication))
    evaluation = write_split(folder / "eval.arrow", _evenly(held_out, spec.eval_samples))
    say(f"evaluation set: {evaluation.num_samples} samples")
    return Manifest(
        created_by=f"mlbench {mlbench.__version__}",
        corpus=corpus.name,
        licence=corpus.licence,
        corpus_sha256=_digest(corpus),
        num_documents=len(articles.train) + len(articles.eval),
        vocabulary_sha256=vocabulary.sha256,
        vocabulary_size=len(vocabulary),
        spec=spec,
        train=train,
        eval=evaluation,
    )


def _tokenise(corpus: Corpus, vocabulary: Vocabulary, spec: PrepareSpec) -> _Tokenised:
    held_out = _held_out(len(corpus.documents), spec.eval_fraction)
    tokenised = _Tokenised([], [])
    for index, document in enumerate(corpus.documents):
        sentences = [ids for ids in vocabulary.tokenise(document.sentences) if ids]
        split = tokenised.eval if index in held_out else tokenised.train
        split.extend(_articles(sentences, index, spec))
    return tokenised


def _articles(sentences: list[list[int]], index: int, spec: PrepareSpec) -> Sequence[Article]:
    if not sentences:
        return []
    if spec.article_tokens is None:
        return [sentences]
    draw = random.Random(derive_seed(spec.seed, "articles", index))
    cut: Sequence[Sequence[Sentence]] = cut_articles(sentences, spec.article_tokens, draw)
    return cut


def _held_out(num_documents: int, fraction: float) -> set[int]:
    """Return the documents kept for evaluation, evenly spread over the corpus."""
    count = max(1, round(num_documents * fraction))
    return {int((index + 0.5) * num_documents / count) for index in range(count)}


def _evenly(samples: Sequence[Sample], count: int) -> list[Sample]:
    """Return ``count`` samples at even distances, all of them if there are no more."""
    if len(samples) <= count:
        return list(samples)
    return [samples[index * len(samples) // count] for index in range(count)]


def _digest(corpus: Corpus) -> str:
    digest = hashlib.sha256()
    for document in corpus.documents:
        digest.update("\n".join(document.sentences).encode())
        digest.update(b"\n\n")
    return digest.hexdigest()
