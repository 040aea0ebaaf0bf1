"""Workloads in words: from a command line, and the names of queries over short texts and large integers."""

import math

import numpy as np
import pytest

from refusing import refuses
from sottovoce.core.errors import SurveyError, WorkloadError
from sottovoce.domain import Domain
from sottovoce.workloads import Bins, Dense, Features, Identity, Marginals, Parities, Prefix, Ranges, parse_workload


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("identity:1024", Identity(1024)),
        ("prefix:1024", Prefix(1024)),
        ("ranges:64", Ranges(64)),
        ("bins:100:10", Bins(100, 10)),
        ("marginals:ages=10,sex=2,country=30:2", Marginals(k=2, ages=10, sex=2, country=30)),
        ("parities:10:3", Parities(10, 3)),
    ],
)
def test_a_workload_is_one_word(text, expected):
    assert parse_workload(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", "prefix", "prefix:", "prefix:x", "prefix:-4", "prefix:1e3", "prefix:٣", "prefix:4:4", "Prefix:4"),
        *("prefix:" + "9" * 5000, "quantiles:4", "bins:100", "parities:10", None, 5),
        *("marginals:2", "marginals:a=2,a=3:1", "marginals:a=2,b:1", "marginals:a=2,b=3"),
    ],
    ids=lambda text: str(text)[:20],
)
def test_a_word_that_is_no_workload_is_answered_with_the_forms_there_are(text):
    with pytest.raises(WorkloadError, match=r"write one like identity:1024 .* dense:FILE\.npy") as refusal:
        parse_workload(text)
    assert len(str(refusal.value)) < 600


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("prefix:1", "values"),
        ("prefix:0", "values"),
        ("ranges:999999", "domain"),
        ("marginals:a=2,b=3:3", "k"),
        ("parities:4:9", "order"),
        ("bins:9:0", "edges"),
    ],
)
def test_sizes_that_cannot_be_asked_name_the_number(text, field):
    with refuses(SurveyError, field):
        parse_workload(text)


def test_a_matrix_is_read_from_its_file(tmp_path):
    for matrix in (np.array([[1.5, 2], [3, 4]]), np.array([[1, 0], [0, 1]], dtype=bool), np.ones((2, 3), order="F")):
        np.save(tmp_path / "a:b.npy", matrix)
        assert parse_workload(f"dense:{tmp_path}/a:b.npy") == Dense(matrix)


def test_a_file_that_is_no_matrix_is_refused(tmp_path):
    class Exploding:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was run",))

    np.save(tmp_path / "object.npy", np.array([[Exploding()]], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "archive.npz", np.eye(2))
    np.save(tmp_path / "flat.npy", np.ones(3))
    np.save(tmp_path / "nan.npy", np.array([[1, math.nan]]))
    np.save(tmp_path / "good.npy", np.eye(2))
    whole = (tmp_path / "good.npy").read_bytes()
    (tmp_path / "short.npy").write_bytes(whole[:-8])
    (tmp_path / "huge.npy").write_bytes(whole.replace(b"(2, 2), }" + b" " * 12, b"(2000000, 2000000), }"))
    (tmp_path / "broken.npy").write_bytes(whole.replace(b"}", b"("))
    (tmp_path / "text.npy").write_text("1,2\n3,4\n")
    (tmp_path / "empty.npy").write_bytes(b"")
    refused = sorted(path.name for path in tmp_path.iterdir() if path.name != "good.npy")
    assert len(refused) == 9
    for name in (*refused, "missing.npy", "", "nul\0.npy"):
        with pytest.raises(WorkloadError, match="give a "):
            parse_workload(f"dense:{tmp_path}/{name}")


WORDS = Domain.text(2, "ab")
SIGNS = Domain.text(2, "1-,")


@pytest.mark.parametrize("words", [WORDS, SIGNS, Domain.text(2, '" ')], ids=lambda domain: domain.alphabet)
def test_every_name_over_a_text_domain_leads_back_to_its_query(words):
    records = Domain.product(word=words, sex=["F", "M"])
    for workload in (Identity(words), Prefix(words), Ranges(words), Identity(records), Marginals(records, k=1)):
        names = [workload.name(query) for query in range(workload.n_queries)]
        assert [workload.find(name) for name in names] == list(range(workload.n_queries))


def test_names_over_a_text_domain_read_as_texts():
    assert [Identity(WORDS).name(3), Prefix(WORDS).name(3), Ranges(WORDS).name(8)] == ["ab", "<= ab", "a-aa"]
    assert Marginals(Domain.product(word=WORDS, sex=["F", "M"]), k=2).name(7) == "word=ab, sex=M"
    for workload, name in ((Identity(WORDS), "c"), (Prefix(WORDS), "<= 3"), (Ranges(WORDS), "b-a")):
        with refuses(WorkloadError, "name"):
            workload.find(name)


def test_features_of_a_text_domain_are_called_with_texts():
    lengths = Features(SIGNS, len, names=["length"])
    assert [lengths.column(index)[0] for index in range(SIGNS.size)] == [len(label) for label in SIGNS.labels()]


def test_integers_of_nineteen_digits_are_found_by_name():
    for start in (-(2**63), 2**63 - 4):
        for workload in (Identity(range(start, start + 4)), Prefix(range(start, start + 4))):
            assert [workload.find(workload.name(query)) for query in range(4)] == [0, 1, 2, 3]
    with refuses(WorkloadError, "name"):
        Identity(range(2**63 - 4, 2**63)).find(str(2**64))
