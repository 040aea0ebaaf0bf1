"""Forms of a person's value that every language accepts or refuses alike: those of `vectors/values.json`."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from sottovoce.core.errors import ValueOutsideDomainError
from sottovoce.questions.registry import question_from_statement

CASES = json.loads((Path(__file__).parents[2] / "vectors" / "values.json").read_text(encoding="utf-8"))["cases"]

READ: dict[str, Any] = {
    "infinity": lambda _: math.inf,
    "-infinity": lambda _: -math.inf,
    "nan": lambda _: math.nan,
    "nothing": lambda _: None,
    "integer": int,
    "list": lambda entries: [given(entry) for entry in entries],
    "set": lambda entries: {given(entry) for entry in entries},
    "object": lambda fields: {name: given(value) for name, value in fields},
    "map": lambda fields: MappingProxyType({name: given(value) for name, value in fields}),
    "floats": lambda entries: np.array(entries, dtype=np.float64),
    "integers": lambda entries: np.array(entries, dtype=np.int32),
}


def given(form: Any) -> Any:
    """The value that stands in the file."""
    return READ[form["is"]](form.get("of")) if isinstance(form, dict) else form


@pytest.mark.parametrize("case", CASES, ids=lambda case: json.dumps(case["question"])[:70])
def test_forms_of_a_value(case: Any) -> None:
    question = question_from_statement(case["question"])
    for form, plain in case["alike"]:
        read, expected = (np.nan_to_num(question.private_input(given(it)), posinf=0, neginf=0) for it in (form, plain))
        assert np.array_equal(read, expected), form
    for form in case["refused"]:
        with pytest.raises(ValueOutsideDomainError):
            pytest.fail(f"{form} was read as {question.private_input(given(form))}")
