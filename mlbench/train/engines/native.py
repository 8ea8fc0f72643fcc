"""mlbench's own training step, on PyTorch."""

from contextlib import AbstractContextManager

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.utils import clip_grad_norm_

from mlbench import registry
from mlbench.benchmarks import Benchmark
from mlbench.data.manifest import load_manifest
from mlbench.data.order import SampleOrder, rank_slice
from mlbench.data.store import SampleStore
from mlbench.errors import DataError
from mlbench.parallel import RankContext, Strategy
from mlbench.plan import RunPlan
from mlbench.registry import Group
from mlbench.seeds import derive_seed
from mlbench.train import StepResult
from mlbench.train.lamb import Lamb, lamb_groups
from mlbench.vocabulary import Precision, Tokens


class NativeEngine:
    """Trains the benchmark's model under a parallel strategy.

    Losses are summed in each pass and divided by the counts of the whole global batch, so that
    the gradient does not depend on which rank has which sample.
    """

    def __init__(self, plan: RunPlan, context: RankContext) -> None:
        self._plan = plan
        self._context = context
        benchmark: Benchmark = registry.load(Group.BENCHMARK, plan.config.benchmark)
        self._implementation = benchmark.implementation()
        torch.manual_seed(derive_seed(plan.seed, "init"))
        self.model = self._implementation.build_model(plan.config.model, plan.vocabulary_size)
        self._module = self._implementation.PretrainingLoss(self.model).to(context.device)
        self._strategy: Strategy = registry.load(Group.STRATEGY, plan.config.parallel.strategy)(
            context
        )
        self._wrapped = self._strategy.wrap(self._module)
        self._optimizer = self._build_optimizer()
        torch.manual_seed(derive_seed(plan.seed, "dropout", context.rank))
        self._order = SampleOrder(plan.seed, plan.num_train_samples, plan.batch.global_batch_size)

    def _build_optimizer(self) -> Lamb:
        settings = self._plan.config.optimizer
        return Lamb(
            lamb_groups(self._module, settings.weight_decay_rate),
            lr=settings.learning_rate,
            betas=(settings.beta_1, settings.beta_2),
            eps=settings.epsilon,
        )

    def open_data(self) -> None:
        """Map the prepared samples."""
        folder = self._plan.config.data.path
        manifest = load_manifest(folder)
        self._train = _open(SampleStore(folder / manifest.train.file), manifest.train.num_samples)
        self._eval = _open(SampleStore(folder / manifest.eval.file), manifest.eval.num_samples)

    def step(self, step: int, learning_rate: float) -> StepResult:
        """Do one optimizer step on the global batch of ``step``."""
        indices = self._order.global_batch(step - 1)
        share = indices[rank_slice(len(indices), self._context.rank, self._context.world_size)]
        sums = self._context.sum(self._forward_backward(indices, share))
        gradient_norm = clip_grad_norm_(
            self._module.parameters(), self._plan.config.optimizer.max_gradient_norm
        )
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate
        self._optimizer.step()
        self._optimizer.zero_grad()
        loss, num_tokens, num_padded_tokens = sums.tolist()
        return StepResult(
            loss, float(gradient_norm), Tokens(int(num_tokens)), Tokens(int(num_padded_tokens))
        )

    def _forward_backward(
        self, indices: NDArray[np.int64], share: NDArray[np.int64]
    ) -> torch.Tensor:
        """Accumulate gradients; return this rank's (loss, real tokens, computed tokens)."""
        num_masked = self._train.num_masked(indices)
        passes = np.split(share, self._plan.batch.gradient_accumulation_steps)
        loss = torch.zeros((), dtype=torch.float64, device=self._context.device)
        num_tokens = num_padded_tokens = 0
        for number, part in enumerate(passes, start=1):
            samples = self._train.batch(part)
            batch = self._implementation.collate(samples, self._context.device)
            last = number == len(passes)
            with self._strategy.accumulate(self._wrapped, last=last):
                with self._autocast():
                    sums = self._wrapped(batch)
                mean = sums.masked_lm_loss / num_masked + sums.next_sentence_loss / len(indices)
                (mean * self._strategy.loss_scale).backward()
            loss += mean.detach()
            num_tokens += len(samples.input_ids)
            num_padded_tokens += batch.num_padded_tokens
        counts = torch.tensor([num_tokens, num_padded_tokens], dtype=torch.float64)
        return torch.cat([loss[None], counts.to(loss.device)])

    def evaluate(self) -> float:
        """Return the accuracy on the evaluation set; every sample counts once."""
        context, size = self._context, self._plan.config.evaluation.micro_batch_size
        mine = rank_slice(len(self._eval), context.rank, context.world_size)
        correct = total = 0
        self._module.eval()
        for start in range(mine.start, mine.stop, size):
            samples = self._eval.batch(np.arange(start, min(start + size, mine.stop)))
            batch = self._implementation.collate(samples, context.device)
            with self._autocast():
                correct += self._module.count_correct(batch)
            total += len(samples.masked_ids)
        self._module.train()
        counts = torch.tensor([correct, total], dtype=torch.float64, device=context.device)
        all_correct, all_total = context.sum(counts).tolist()
        return float(all_correct / all_total)

    def _autocast(self) -> AbstractContextManager[object]:
        return torch.autocast(
            self._context.device.type,
            dtype=torch.bfloat16,
            enabled=self._plan.precision is Precision.BF16,
        )


def _open(store: SampleStore, num_samples: int) -> SampleStore:
    if len(store) != num_samples:
        raise DataError(
            f"{len(store)} samples where the manifest has {num_samples}; "
            "prepare the data again: mlbench data prepare"
        )
    return store
