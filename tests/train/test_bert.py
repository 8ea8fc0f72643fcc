"""The step does less work than transformers' own forward, and computes the same."""

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import torch
from ruamel.yaml import YAML

from mlbench.benchmarks.bert import BERT, BertModel, evaluation_interval, tensor_names
from mlbench.benchmarks.bert.implementation import PretrainingLoss, build_model, collate
from mlbench.data import SampleBatch
from mlbench.data.store import SampleStore

CPU = torch.device("cpu")
MODEL = BertModel(
    hidden_size=16,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=32,
    max_position_embeddings=16,
    hidden_dropout=0.0,
    attention_dropout=0.0,
)


@pytest.fixture
def samples(small_data: Path) -> SampleBatch:
    """Samples of several lengths."""
    store = SampleStore(small_data / "prepared" / "train.arrow")
    batch = store.batch(np.arange(24))
    assert len(set(batch.lengths.tolist())) > 1
    return batch


def test_collate_pads_with_zeros_and_marks_segments(samples: SampleBatch) -> None:
    batch = collate(samples, CPU)
    longest = int(samples.lengths.max())
    assert batch.input_ids.shape == (24, longest)
    assert batch.num_padded_tokens == 24 * longest
    assert batch.attention_mask is not None
    assert batch.attention_mask.sum(1).tolist() == samples.lengths.tolist()
    for row in range(24):
        length, start = int(samples.lengths[row]), int(samples.segment_b[row])
        span = slice(samples.offsets[row], samples.offsets[row + 1])
        assert batch.input_ids[row, :length].tolist() == samples.input_ids[span].tolist()
        assert batch.input_ids[row, length:].sum() == 0
        assert batch.token_type_ids[row].tolist() == [0] * start + [1] * (length - start) + [0] * (
            longest - length
        )


def test_a_batch_without_padding_needs_no_mask(small_data: Path) -> None:
    store = SampleStore(small_data / "prepared" / "train.arrow")
    lengths = store.batch(np.arange(len(store))).lengths
    longest = np.nonzero(lengths == lengths.max())[0]
    assert collate(store.batch(longest), CPU).attention_mask is None


def test_losses_are_those_of_transformers(samples: SampleBatch) -> None:
    torch.manual_seed(1)
    model = build_model(MODEL, vocabulary_size=40)
    model.train(False)
    batch = collate(samples, CPU)
    labels = torch.full_like(batch.input_ids, -100)
    labels.view(-1)[batch.masked_rows] = batch.masked_ids
    expected = model(
        input_ids=batch.input_ids,
        attention_mask=batch.attention_mask,
        token_type_ids=batch.token_type_ids,
        labels=labels,
        next_sentence_label=batch.next_sentence_labels,
    ).loss
    sums = PretrainingLoss(model)(batch)
    ours = sums.masked_lm_loss / len(samples.masked_ids) + sums.next_sentence_loss / len(samples)
    torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-6)
    expected.backward()
    gradients = {name: each.grad for name, each in model.named_parameters()}
    model.zero_grad()
    ours.backward()
    for name, each in model.named_parameters():
        torch.testing.assert_close(each.grad, gradients[name], rtol=1e-4, atol=1e-6)


def test_correct_predictions_are_counted(samples: SampleBatch) -> None:
    torch.manual_seed(1)
    module = PretrainingLoss(build_model(MODEL, vocabulary_size=40)).eval()
    batch = collate(samples, CPU)
    scores, _ = module._scores(batch)
    predicted = scores.argmax(-1)
    assert module.count_correct(batch._replace(masked_ids=predicted)) == len(samples.masked_ids)
    assert module.count_correct(batch._replace(masked_ids=(predicted + 1) % 40)) == 0


def test_samples_do_not_see_each_other_or_the_padding(samples: SampleBatch) -> None:
    torch.manual_seed(1)
    module = PretrainingLoss(build_model(MODEL, vocabulary_size=40)).eval()
    together = module(collate(samples, CPU)).masked_lm_loss
    alone = sum(
        module(collate(single(samples, row), CPU)).masked_lm_loss for row in range(len(samples))
    )
    torch.testing.assert_close(together, alone, rtol=1e-5, atol=1e-5)


def single(samples: SampleBatch, row: int) -> SampleBatch:
    """One sample of a batch as a batch."""
    span = slice(samples.offsets[row], samples.offsets[row + 1])
    masked = slice(samples.masked_offsets[row], samples.masked_offsets[row + 1])
    return SampleBatch(
        input_ids=samples.input_ids[span],
        offsets=np.array([0, samples.lengths[row]]),
        segment_b=samples.segment_b[row : row + 1],
        masked_positions=samples.masked_positions[masked],
        masked_ids=samples.masked_ids[masked],
        masked_offsets=np.array([0, masked.stop - masked.start]),
        next_sentence_labels=samples.next_sentence_labels[row : row + 1],
    )


def test_tensor_names_are_those_that_the_closed_rules_ask_for() -> None:
    folder = files("mlperf_logging.compliance_checker") / "training_2.1.0"
    text = (folder / "closed_bert.yaml").read_text("utf-8")
    rules = YAML(typ="safe", pure=True).load(text)
    (check,) = [rule["END"]["CHECK"] for rule in rules if "END" in rule] or [text]
    names = tensor_names(24)
    assert len(names) == len(set(names)) == 398
    assert all(name in str(check) for name in names)


def test_a_small_model_does_not_claim_the_references_tensors() -> None:
    tensors = BERT.initialised_tensors(MODEL)
    assert len(tensors) == 398
    assert sum(tensors.values()) == 5 + 2 * 16 + 2 + 5 + 2
    assert not tensors["bert/encoder/layer_23/attention/self/query/kernel"]


INTERVALS = {
    256: 150_000,
    2048: 150_000,
    3072: 175_000,
    6144: 200_000,
    8192: 225_000,
    16384: 325_000,
}


@pytest.mark.parametrize("size", INTERVALS)
def test_the_evaluation_interval_is_the_rules(size: int) -> None:
    assert evaluation_interval(size) == INTERVALS[size]
