"""Text to sentences, and long documents to pseudo-articles."""

import math
import random
import re
from collections.abc import Sequence

ARTICLE_SIGMA = 1.1
"""Spread of the log-normal article length; with a median of 150 tokens it gives sequence lengths
near those of MLPerf's Wikipedia samples."""

_SENTENCE_END = re.compile(r"""[.!?]["')\]]*\s+(?=["'(\[]*[A-Z0-9])""")
_ABBREVIATION = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Messrs|Gen|Col|Capt|Lt|Gov|Sen|Rep|Hon|Prof|St|No|Jr|Sr|vs|viz|U\.S|[A-Z])\.$"
)


def split_sentences(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph, without surrounding blanks.

    A sentence ends at ``.``, ``!`` or ``?`` before a capital or a digit, but not after a title,
    an initial or another common abbreviation.
    """
    sentences = []
    start = 0
    for match in _SENTENCE_END.finditer(paragraph):
        sentence = paragraph[start : match.end()].strip()
        if not _ABBREVIATION.search(sentence):
            sentences.append(sentence)
            start = match.end()
    rest = paragraph[start:].strip()
    return [*sentences, rest] if rest else sentences


def cut_articles(
    sentences: Sequence[Sequence[int]], median_tokens: int, draw: random.Random
) -> list[list[Sequence[int]]]:
    """Return consecutive runs of tokenised sentences whose lengths are log-normal in tokens."""
    articles: list[list[Sequence[int]]] = []
    article: list[Sequence[int]] = []
    num_tokens = 0
    target = draw.lognormvariate(math.log(median_tokens), ARTICLE_SIGMA)
    for sentence in sentences:
        article.append(sentence)
        num_tokens += len(sentence)
        if num_tokens >= target:
            articles.append(article)
            article, num_tokens = [], 0
            target = draw.lognormvariate(math.log(median_tokens), ARTICLE_SIGMA)
    return [*articles, article] if article else articles
