"""BERT pretraining in PyTorch: model, loss and metric. Imported by ranks only."""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import BertConfig, BertForPreTraining

from mlbench.benchmarks.bert import BertModel
from mlbench.data import SampleBatch


class BertBatch(NamedTuple):
    """N samples padded to the longest, S tokens; M masked tokens in all."""

    input_ids: Tensor
    """(N, S)"""
    token_type_ids: Tensor
    """(N, S) 0 in the first segment, 1 in the second."""
    attention_mask: Tensor | None
    """(N, S) 1 at real tokens; None when there is no padding."""
    masked_rows: Tensor
    """(M,) positions of the masked tokens in the flattened (N * S) batch."""
    masked_ids: Tensor
    """(M,) the tokens to predict."""
    next_sentence_labels: Tensor
    """(N,)"""

    @property
    def num_padded_tokens(self) -> int:
        """Tokens that are computed, padding included."""
        return self.input_ids.numel()


class BertSums(NamedTuple):
    """Sums over a batch, so that a mean can be taken over all ranks and passes."""

    masked_lm_loss: Tensor
    next_sentence_loss: Tensor


def build_model(model: BertModel, vocabulary_size: int) -> BertForPreTraining:
    """Return a freshly initialised BERT."""
    config = BertConfig(
        vocab_size=vocabulary_size,
        hidden_size=model.hidden_size,
        num_hidden_layers=model.num_hidden_layers,
        num_attention_heads=model.num_attention_heads,
        intermediate_size=model.intermediate_size,
        max_position_embeddings=model.max_position_embeddings,
        hidden_dropout_prob=model.hidden_dropout,
        attention_probs_dropout_prob=model.attention_dropout,
        initializer_range=model.initializer_range,
    )
    return BertForPreTraining(config)


def collate(samples: SampleBatch, device: torch.device) -> BertBatch:
    """Return samples as padded tensors on a device."""
    lengths = samples.lengths
    num_samples, longest = len(samples), int(lengths.max())
    columns = np.arange(longest)
    real = columns < lengths[:, None]
    input_ids = np.zeros((num_samples, longest), dtype=np.int64)
    input_ids[real] = samples.input_ids
    second = (columns >= samples.segment_b[:, None]) & real
    sample_of_mask = np.repeat(np.arange(num_samples), np.diff(samples.masked_offsets))
    masked_rows = sample_of_mask * longest + samples.masked_positions

    def tensor(array: "np.ndarray[Any, Any]") -> Tensor:
        return torch.from_numpy(array.astype(np.int64, copy=False)).to(device)

    return BertBatch(
        input_ids=tensor(input_ids),
        token_type_ids=tensor(second),
        attention_mask=None if real.all() else tensor(real),
        masked_rows=tensor(masked_rows),
        masked_ids=tensor(samples.masked_ids),
        next_sentence_labels=tensor(samples.next_sentence_labels),
    )


class PretrainingLoss(nn.Module):
    """Model and loss as one module, the one that parallel strategies wrap.

    The masked-LM head sees masked positions only: the others have no loss, and the head is most
    of a small BERT's work.
    """

    def __init__(self, model: BertForPreTraining) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: BertBatch) -> BertSums:
        """Return the summed losses of a batch."""
        masked_scores, next_scores = self._scores(batch)
        return BertSums(
            functional.cross_entropy(masked_scores.float(), batch.masked_ids, reduction="sum"),
            functional.cross_entropy(
                next_scores.float(), batch.next_sentence_labels, reduction="sum"
            ),
        )

    @torch.no_grad()
    def count_correct(self, batch: BertBatch) -> int:
        """Return how many masked tokens the model predicts right."""
        masked_scores, _ = self._scores(batch)
        return int((masked_scores.argmax(dim=-1) == batch.masked_ids).sum())

    def _scores(self, batch: BertBatch) -> tuple[Tensor, Tensor]:
        """Return scores of the masked tokens, (M, vocabulary), and of the pairs, (N, 2)."""
        output = self.model.bert(
            input_ids=batch.input_ids,
            attention_mask=batch.attention_mask,
            token_type_ids=batch.token_type_ids,
        )
        hidden = output.last_hidden_state.flatten(0, 1)[batch.masked_rows]
        heads = self.model.cls
        return heads.predictions(hidden), heads.seq_relationship(output.pooler_output)
