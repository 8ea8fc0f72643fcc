"""MLPerf's rules for samples, on text where each rule shows."""

import random
from pathlib import Path

import pytest

from mlbench.data import PrepareSpec
from mlbench.data.instances import Sample, SampleMaker
from mlbench.data.segment import cut_articles, split_sentences
from mlbench.data.tokenise import load_vocabulary
from mlbench.errors import DataError
from tests.conftest import small_spec

NUM_ARTICLES = 60


@pytest.fixture(scope="module")
def maker(small_data: Path) -> SampleMaker:
    """Articles whose every token tells its article and place: id = 5 + article % 20."""
    vocabulary = load_vocabulary(str(small_data / "vocabulary.txt"))
    draw = random.Random(0)
    articles = [
        [[5 + article % 20] * draw.randint(1, 9) for _ in range(draw.randint(1, 8))]
        for article in range(NUM_ARTICLES)
    ]
    return SampleMaker(articles, vocabulary, small_spec(small_data))


@pytest.fixture(scope="module")
def samples(maker: SampleMaker) -> list[Sample]:
    return [sample for number in range(40) for sample in maker.samples(number)]


def restored(sample: Sample) -> list[int]:
    """The tokens before masking."""
    tokens = list(sample.input_ids)
    for position, token in zip(sample.masked_positions, sample.masked_ids, strict=True):
        tokens[position] = token
    return tokens


def test_a_sample_is_two_segments_between_special_tokens(
    samples: list[Sample], maker: SampleMaker
) -> None:
    ids = maker.vocabulary.ids
    for sample in samples:
        tokens = restored(sample)
        assert len(tokens) <= maker.spec.sequence_length
        assert tokens[0] == ids["[CLS]"]
        assert tokens[-1] == tokens[sample.segment_b - 1] == ids["[SEP]"]
        assert sum(token in (ids["[CLS]"], ids["[SEP]"]) for token in tokens) == 3
        assert sample.segment_b >= 3
        assert len(tokens) > sample.segment_b + 1


def test_the_label_says_whether_the_second_segment_follows(samples: list[Sample]) -> None:
    for sample in samples:
        tokens = restored(sample)
        first, second = tokens[1], tokens[sample.segment_b]
        if sample.next_sentence_label == 0:
            assert first == second
    random_share = sum(sample.next_sentence_label for sample in samples) / len(samples)
    assert 0.5 <= random_share < 0.9  # Chunks of one sentence can only be followed by another's.


def test_masked_positions_are_sorted_distinct_and_never_special(
    samples: list[Sample], maker: SampleMaker
) -> None:
    for sample in samples:
        positions = sample.masked_positions
        assert positions == sorted(set(positions))
        special = {0, sample.segment_b - 1, len(sample.input_ids) - 1}
        assert not special & set(positions)
        expected = min(maker.spec.max_predictions, max(1, round(len(sample.input_ids) * 0.15)))
        assert len(positions) == min(expected, len(sample.input_ids) - 3)


def test_masks_are_80_10_10(samples: list[Sample], maker: SampleMaker) -> None:
    mask = maker.vocabulary.ids["[MASK]"]
    pairs = [
        (sample.input_ids[position], token)
        for sample in samples
        for position, token in zip(sample.masked_positions, sample.masked_ids, strict=True)
    ]
    count = len(pairs)
    masked = sum(new == mask for new, _ in pairs) / count
    kept = sum(new == old for new, old in pairs) / count
    size = len(maker.vocabulary)
    tolerance = 4 * (0.16 / count) ** 0.5
    assert masked == pytest.approx(0.8 + 0.1 / size, abs=tolerance)
    assert kept == pytest.approx(0.1 + 0.1 / size, abs=tolerance)


def test_samples_do_not_depend_on_what_was_made_before(maker: SampleMaker) -> None:
    assert list(maker.samples(3)) == list(maker.samples(3))
    assert list(maker.samples(3)) != list(maker.samples(4))


def test_without_short_sequences_full_articles_fill_the_sequence(maker: SampleMaker) -> None:
    long = [[[5] * 8] * 10, [[6] * 8] * 10]
    spec = maker.spec.model_copy(update={"short_sequence_probability": 0.0})
    made = list(SampleMaker(long, maker.vocabulary, spec).samples(0))
    assert {len(sample.input_ids) for sample in made} == {spec.sequence_length}


SENTENCES = {
    "One. Two! Three?": ["One.", "Two!", "Three?"],
    "Mr. Smith met Dr. Jones. They spoke.": ["Mr. Smith met Dr. Jones.", "They spoke."],
    "It cost $3.50. He paid.": ["It cost $3.50.", "He paid."],
    'He said "Go." Then he left.': ['He said "Go."', "Then he left."],
    "J. Q. Adams wrote. it was long": ["J. Q. Adams wrote. it was long"],
    "no end": ["no end"],
    "  ": [],
}


@pytest.mark.parametrize("text", SENTENCES)
def test_sentences_end_where_a_reader_would_end_them(text: str) -> None:
    assert split_sentences(text) == SENTENCES[text]


def test_articles_keep_every_sentence_and_vary_in_length() -> None:
    sentences = [[n] * 10 for n in range(2000)]
    articles = cut_articles(sentences, 150, random.Random(1))
    assert [sentence for article in articles for sentence in article] == sentences
    lengths = sorted(sum(map(len, article)) for article in articles)
    assert 100 < lengths[len(lengths) // 2] < 220
    assert lengths[-1] > 3 * lengths[len(lengths) // 2]


SPECIAL = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n"

BROKEN_VOCABULARIES = {
    SPECIAL + "a\na\n": r"x\.txt:7: 'a' stands in line 6 too",
    SPECIAL + "a\n\nb\n": r"x\.txt:7: empty line",
    SPECIAL + "a\n\n": r"x\.txt:7: empty line",
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n": r"special tokens missing: \[MASK\]",
}


@pytest.mark.parametrize("text", BROKEN_VOCABULARIES)
def test_a_broken_vocabulary_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.txt").write_text(text, "utf-8")
    with pytest.raises(DataError, match=BROKEN_VOCABULARIES[text]):
        load_vocabulary(str(tmp_path / "x.txt"))


def test_an_unknown_vocabulary_gets_a_suggestion() -> None:
    with pytest.raises(DataError, match="did you mean 'sotu-4096'"):
        load_vocabulary("sotu-4095")


def test_the_shipped_vocabulary_is_the_one_that_was_trained() -> None:
    vocabulary = load_vocabulary("sotu-4096")
    assert len(vocabulary) == 4096
    digest = "1c97722d4ba7c35c71feb95852a6fd6d1d79869ff22191cf839e393ea313f771"
    assert vocabulary.sha256 == digest
    words = [vocabulary.tokens[i] for i in vocabulary.tokenise(["The United STATES, 1790!"])[0]]
    assert words[:4] == ["the", "united", "states", ","]


def test_the_default_spec_is_mlperfs() -> None:
    spec = PrepareSpec()
    assert (spec.sequence_length, spec.max_predictions, spec.masked_lm_probability) == (
        512,
        76,
        0.15,
    )
    assert (spec.duplication, spec.seed, spec.eval_samples) == (10, 12345, 10_000)
