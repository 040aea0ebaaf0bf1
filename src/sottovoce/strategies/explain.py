"""Why a strategy: its expected error beside every other's, in a few sentences."""

from __future__ import annotations

from sottovoce.strategies.base import Setting, Strategy
from sottovoce.strategies.direct import Direct
from sottovoce.strategies.registry import Compared, compare

__all__ = ["explain"]


def explain(strategy: Strategy, users: int) -> str:
    """What the strategy gives with so many people, and what the others would."""
    mechanism = strategy.mechanism
    setting = Setting(strategy.workload, mechanism.epsilon, getattr(mechanism, "delta", 0.0), users)
    error = strategy.expected_error(users)
    others = [one for one in compare(setting) if one.name != strategy.name]
    serving = [one for one in others if one.fits]
    sentences = [
        f"{strategy.name} ({strategy.summary}; {mechanism.name}): expected L2 error at most {error:.3g} over all "
        f"answers with {users:,} people"
    ]
    if serving:
        sentences.append("; ".join(_beside(one, error) for one in serving))
    sentences += [f"{one.name} was not compared: {one.reason}" for one in others if not one.fits]
    if isinstance(strategy, Direct):
        sentences.append(_mechanisms(strategy, users))
    return ". ".join(sentences)


def _beside(one: Compared, error: float) -> str:
    if one.error >= error:
        return f"{one.name} would err {one.error / error:.3g} times as much"
    return f"{one.name} would err less, {one.error / error:.3g} times as much"


def _mechanisms(strategy: Direct, users: int) -> str:
    from sottovoce.theory.offline_planner import compare_vectors, explain_vectors

    m = strategy.mechanism
    return explain_vectors(compare_vectors(m.dimension, m.radius, m.epsilon, m.delta, users), m.name)
