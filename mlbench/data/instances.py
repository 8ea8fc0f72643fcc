"""MLPerf's rules for BERT samples: sentence pairs, truncation, static masks.

A plain statement of the rules in Python, one sample at a time. Rules: ``create_pretraining_data``
of the MLPerf BERT reference. Each document draws from a random stream of its own, so that the
result does not depend on who processes which document.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlbench.data import PrepareSpec
from mlbench.data.tokenise import CLS, MASK, SEP, Vocabulary
from mlbench.seeds import derive_seed

Sentence = Sequence[int]
Article = Sequence[Sentence]

NUM_SPECIAL = 3
"""``[CLS]`` and two ``[SEP]`` in every sequence."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One BERT sample, masks applied."""

    input_ids: list[int]
    segment_b: int
    """Position at which the second segment starts."""
    masked_positions: list[int]
    masked_ids: list[int]
    next_sentence_label: int
    """0: the second segment follows the first; 1: it is from another document."""


@dataclass(frozen=True, slots=True)
class SampleMaker:
    """The rules with their numbers filled in."""

    articles: Sequence[Article]
    vocabulary: Vocabulary
    spec: PrepareSpec

    def samples(self, duplication: int) -> Iterator[Sample]:
        """Yield the samples of one pass over the articles."""
        for index in range(len(self.articles)):
            draw = random.Random(derive_seed(self.spec.seed, "instances", duplication, index))
            for first, second, label in self._pairs(index, draw):
                self._truncate(first, second, draw)
                yield self._masked(first, second, label, draw)

    @property
    def _max_tokens(self) -> int:
        return self.spec.sequence_length - NUM_SPECIAL

    def _pairs(self, index: int, draw: random.Random) -> Iterator[tuple[list[int], list[int], int]]:
        """Yield (first segment, second segment, label) of an article, not yet truncated."""
        article = self.articles[index]
        target = self._max_tokens
        if draw.random() < self.spec.short_sequence_probability:
            target = draw.randint(2, self._max_tokens)
        position = 0
        while position < len(article):
            end = _chunk_end(article, position, target)
            chunk = article[position:end]
            split = 1 if len(chunk) == 1 else draw.randint(1, len(chunk) - 1)
            first = _join(chunk[:split])
            if len(chunk) == 1 or draw.random() < 0.5:
                yield first, self._from_elsewhere(index, target - len(first), draw), 1
                position += split  # The sentences not used begin the next chunk.
            else:
                yield first, _join(chunk[split:]), 0
                position = end

    def _from_elsewhere(self, index: int, num_tokens: int, draw: random.Random) -> list[int]:
        """Sentences from a random place of another article, until there are enough tokens."""
        for _ in range(10):
            other = draw.randint(0, len(self.articles) - 1)
            if other != index:
                break
        article = self.articles[other]
        tokens: list[int] = []
        for sentence in article[draw.randint(0, len(article) - 1) :]:
            tokens.extend(sentence)
            if len(tokens) >= num_tokens:
                break
        return tokens

    def _truncate(self, first: list[int], second: list[int], draw: random.Random) -> None:
        """Drop tokens of the longer segment, from front or back, until the pair fits."""
        while len(first) + len(second) > self._max_tokens:
            longer = first if len(first) > len(second) else second
            del longer[0 if draw.random() < 0.5 else -1]

    def _masked(
        self, first: list[int], second: list[int], label: int, draw: random.Random
    ) -> Sample:
        ids = self.vocabulary.ids
        tokens = [ids[CLS], *first, ids[SEP], *second, ids[SEP]]
        segment_b = len(first) + 2
        candidates = [
            position for position in range(1, len(tokens) - 1) if position != segment_b - 1
        ]
        draw.shuffle(candidates)
        positions = sorted(candidates[: self._num_to_mask(len(tokens))])
        masked_ids = [tokens[position] for position in positions]
        for position in positions:
            tokens[position] = self._replacement(tokens[position], draw)
        return Sample(tokens, segment_b, positions, masked_ids, label)

    def _num_to_mask(self, num_tokens: int) -> int:
        share = round(num_tokens * self.spec.masked_lm_probability)
        return min(self.spec.max_predictions, max(1, share))

    def _replacement(self, token: int, draw: random.Random) -> int:
        """80 % ``[MASK]``, 10 % the token itself, 10 % any token of the vocabulary."""
        if draw.random() < 0.8:
            return self.vocabulary.ids[MASK]
        return token if draw.random() < 0.5 else draw.randint(0, len(self.vocabulary) - 1)


def _chunk_end(article: Article, start: int, target: int) -> int:
    """Return where the run of sentences from ``start`` reaches ``target`` tokens, or the end."""
    num_tokens = 0
    for end in range(start, len(article)):
        num_tokens += len(article[end])
        if num_tokens >= target:
            return end + 1
    return len(article)


def _join(sentences: Article) -> list[int]:
    return [token for sentence in sentences for token in sentence]
