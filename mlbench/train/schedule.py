"""The learning rate of a step, as the MLPerf BERT reference defines it."""

from mlbench.config import OptimizerConfig


def learning_rate(optimizer: OptimizerConfig, step: int) -> float:
    """Return the rate of optimizer step ``step``, counted from 1.

    Polynomial decay from the first step to ``training_steps``; while warming up, a linear rise
    that begins at ``start_warmup_step`` instead. Source: ``optimization.py`` of the reference,
    whose step counts from 0: with no head start the first step has rate 0.
    """
    done = step - 1
    warmed = done - optimizer.start_warmup_step
    if warmed < optimizer.warmup_steps:
        return optimizer.learning_rate * max(0.0, warmed / optimizer.warmup_steps)
    left = max(0.0, 1 - done / optimizer.training_steps)
    return optimizer.learning_rate * float(left**optimizer.decay_power)
