"""The law of one report on a set of options: a count of bits for single options, else of their weighted sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.strategies.laws.law import Evidence, ReportLaw, fixed
from sottovoce.strategies.laws.variance import VarianceCurve
from sottovoce.strategies.sets import SetStrategy

__all__ = ["law_of_sets"]


def law_of_sets(design: SetStrategy, weights: Floats | None, evidence: Evidence) -> ReportLaw:
    """A count of bits for single options; else what is known of the sum of supported options' weights."""
    m, n, J = design.mechanism, evidence.n_reports, design.workload.n_queries
    zero, signal = float(m.support.other), float(m.support.signal)
    bits = None if evidence.counts is None else m.bits(evidence.counts, n)
    if weights is None and bits is not None:
        nothing, ends = np.zeros(J), (np.full(J, -zero / signal), np.full(J, (1 - zero) / signal))
        curve = VarianceCurve(nothing, nothing, -1.0)
        return ReportLaw(fixed(curve), nothing, nothing, ends, None, None, evidence.miss, counted=bits[1])
    if bits is not None and m.groups > 1:
        return _of_separate_options(design, weights, bits[1], evidence)
    floor: Any = min(p * (1 - p) for p in (zero, zero + signal)) / signal**2
    curve, apart = design.curve, np.asarray(1 / signal)
    if weights is not None:
        curve, apart = design.combined_curve(weights), np.abs(weights).sum(axis=1) / signal
        apart = np.minimum(apart, m.moved_options[0] * np.abs(weights).max(axis=1) / signal)
        least = design.combined_curve(weights, np.zeros(len(weights)))
        floor = np.min([least.at(end) for end in design.workload.combined_range(weights)], axis=0)
    shape, sharing = (J if weights is None else len(weights),), design.sharing_factor(n)
    shared = curve._replace(constant=curve.constant + (sharing - 1) * np.asarray(design._own_noise(weights)))
    floor, reach = np.broadcast_to(floor, shape), np.broadcast_to(apart, shape)
    proxy, note = sharing * reach**2 / 4, design.interval_note(n)
    return ReportLaw(fixed(shared), floor, reach, None, proxy, None, evidence.miss, note=note)


def _of_separate_options(design: SetStrategy, weights: Any, reports: Counts, evidence: Evidence) -> ReportLaw:
    """Given how many reports tell about each option, they are independent bits, each with its option's weight."""
    zero, signal = float(design.mechanism.support.other), float(design.mechanism.support.signal)
    each = weights * (evidence.n_reports / signal) / np.maximum(reports, 1e-9)  # none: everything is possible
    squares = np.asarray((each * weights).sum(axis=1) / signal)
    curve = VarianceCurve(squares / 4, 0 * squares, 0 * squares)
    reach = np.abs(each).max(axis=1)
    return ReportLaw(fixed(curve), zero * (1 - zero) * squares, reach, None, squares / 4, None, evidence.miss)
