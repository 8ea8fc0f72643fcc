"""BERT: MLPerf's language model pretraining benchmark, v0.7 to v5.0.

Numbers are those of the training rules and of the reference implementation (BERT-large, masked
language model and next sentence, Wikipedia of 2020-01-01).
"""

from typing import Annotated

from pydantic import Field

from mlbench.benchmarks import Benchmark
from mlbench.schema import Record
from mlbench.vocabulary import Samples


class BertModel(Record):
    """Shape of a BERT. The defaults are BERT-large, the model of the benchmark."""

    hidden_size: Annotated[int, Field(ge=8)] = 1024
    """Width of a token's representation."""
    num_hidden_layers: Annotated[int, Field(ge=1)] = 24
    """Transformer layers."""
    num_attention_heads: Annotated[int, Field(ge=1)] = 16
    """Heads of each attention; they divide the hidden size."""
    intermediate_size: Annotated[int, Field(ge=8)] = 4096
    """Width of the feed-forward layers."""
    max_position_embeddings: Annotated[int, Field(ge=8)] = 512
    """Longest sequence the model can take."""
    hidden_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.1
    """Dropout after embeddings, attention and feed-forward layers."""
    attention_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.1
    """Dropout of the attention weights."""
    initializer_range: Annotated[float, Field(gt=0, le=1)] = 0.02
    """Standard deviation of the initial weights."""


def evaluation_interval(global_batch_size: int) -> Samples:
    """Return the training samples between two evaluations that the rules prescribe.

    Source: training rules, BERT: 0.05 * (230.23 * batch + 3,000,000), rounded down to 25,000.
    """
    return Samples(int(0.05 * (230.23 * global_batch_size + 3_000_000) / 25_000) * 25_000)


def tensor_names(num_layers: int) -> tuple[str, ...]:
    """Return the names that the reference gives the tensors of a BERT: 398 for 24 layers."""
    norm = ("gamma", "beta")
    dense = ("kernel", "bias")
    embeddings = [
        *(f"{kind}_embeddings" for kind in ("word", "position", "token_type")),
        *(f"LayerNorm/{part}" for part in norm),
    ]
    layer = [
        *(f"attention/self/{name}/{part}" for name in ("query", "key", "value") for part in dense),
        *(f"attention/output/dense/{part}" for part in dense),
        *(f"attention/output/LayerNorm/{part}" for part in norm),
        *(f"intermediate/dense/{part}" for part in dense),
        *(f"output/dense/{part}" for part in dense),
        *(f"output/LayerNorm/{part}" for part in norm),
    ]
    predictions = [
        "output_bias",
        *(f"transform/dense/{part}" for part in dense),
        *(f"transform/LayerNorm/{part}" for part in norm),
    ]
    return (
        *(f"bert/embeddings/{name}" for name in embeddings),
        *(f"bert/encoder/layer_{number}/{name}" for number in range(num_layers) for name in layer),
        *(f"bert/pooler/dense/{part}" for part in dense),
        *(f"cls/predictions/{name}" for name in predictions),
        *(f"cls/seq_relationship/{name}" for name in ("output_weights", "output_bias")),
    )


def initialised_tensors(model: BertModel) -> dict[str, bool]:
    """Return the tensors of the reference and whether ``model`` has each."""
    present = set(tensor_names(model.num_hidden_layers))
    return {name: name in present for name in tensor_names(BertModel().num_hidden_layers)}


BERT = Benchmark(
    name="bert",
    metric="masked-LM accuracy",
    quality_target=0.72,
    num_runs=10,
    num_eval_samples=10_000,
    last_ruleset="5.0.0",
    evaluation_interval=evaluation_interval,
    initialised_tensors=initialised_tensors,
    implementation_module="mlbench.benchmarks.bert.implementation",
)
