"""What every engine must do, whatever it runs on: the same integers, the same tally, the same bytes of a file.

`CHECKS` has one check a name, each a function of an engine and an empty folder, with one or two jobs in it. What is
expected comes from a loop over the rows in plain Python and from `Aggregate.add`, which share no code with engines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sottovoce as sv
from sottovoce.core.errors import ReportError
from sottovoce.domain import ValueNumbers
from sottovoce.engines import Engine, Tally
from sottovoce.formats.aggregate_file import write_aggregate
from sottovoce.formats.sharded import in_shards
from sottovoce.formats.wire import encode_batch
from sottovoce.mechanisms import MECHANISMS, FiniteMechanism, serving
from sottovoce.workloads import Marginals, Prefix

__all__ = ["CHECKS", "Row", "Rows", "expected", "reports_of", "survey_of", "write_parquet", "write_segment"]

Row = tuple[bytes | None, bytes | None]
"""A report id and a report, as they stand in a file."""

Rows = list[Row]
Check = Callable[[Engine, Path], None]

SURVEYS: Final[dict[str, Callable[[], Any]]] = {
    **{name: partial(sv.Survey, sv.shares(20), epsilon=1.0, mechanism=name) for name in serving(FiniteMechanism)},
    "codebook": partial(sv.Survey, sv.vector(5, 2.0), epsilon=1.0, mechanism="codebook", people=1000),
    "gaussian": partial(sv.Survey, sv.vector(5, 2.0), epsilon=1.0, delta=1e-6, mechanism="gaussian", people=1000),
    "rejection": partial(sv.Survey, sv.vector(5, 2.0), epsilon=1.0, mechanism="rejection", people=1000),
    "binary": partial(sv.Survey, sv.vector(1, 2.0), epsilon=1.0, mechanism="binary"),
    "hierarchical": lambda: sv.Survey(sv.queries(Prefix(16)), epsilon=1.0, strategy="hierarchical"),
    "haar": lambda: sv.Survey(sv.queries(Prefix(16)), epsilon=1.0, strategy="haar"),
    "fourier": lambda: sv.Survey(sv.queries(Marginals({"a": 3, "b": 4, "c": 2}, k=2)), epsilon=1.0, strategy="fourier"),
    "matrix_channel": lambda: sv.Survey(sv.queries(Prefix(6)), epsilon=1.0, strategy="optimized"),
    "rounded_channel": lambda: sv.Survey(sv.number(0, 600), epsilon=1.0),
    **{
        name: partial(sv.Survey, sv.choices(list("abcdefgh"), 3), epsilon=1.0, mechanism=name)
        for name in ("set_selection", "wheel", "one_option")
    },
    "hashed_prefixes": partial(sv.Survey, sv.words(4, "abcd"), epsilon=1.0, people=1000),
    "tables": lambda: sv.Survey(
        sv.records({"city": list("abcde"), "age": range(12), "hours": sv.number(0, 9)}), epsilon=1.0
    ),
    "products": lambda: sv.Survey(sv.relation({"city": list("abc")}, outcome=sv.number(0, 9, "hours")), epsilon=1.0),
}
"""A survey for every mechanism that one may name."""


@cache
def survey_of(name: str) -> Any:
    """The survey, made once."""
    return SURVEYS[name]()


@cache
def reports_of(name: str, n: int) -> tuple[bytes, ...]:
    """Reports of so many people."""
    survey, rng = survey_of(name), np.random.default_rng(n)
    invented = survey.question.invented_people()
    if invented is not None:
        people: Any = invented.draw(n, rng)
    elif survey.domain is None:
        people = rng.uniform(-0.8, 0.8, (n, survey.n_answers))
    else:
        people = ValueNumbers(rng.integers(0, survey.domain.size, n))
    return tuple(survey.simulate(people, seed=n))


def new_ids(n: int, seed: int) -> list[bytes]:
    """Report ids of so many devices."""
    drawn = np.random.default_rng(seed).bytes(16 * n)
    return [drawn[at : at + 16] for at in range(0, 16 * n, 16)]


class Expected(NamedTuple):
    """What must come out of some rows."""

    aggregate: sv.Aggregate
    tally: Tally

    def file(self, folder: Path) -> bytes:
        """The bytes of the aggregate file."""
        place = folder / "expected.bin"
        write_aggregate(place, self.aggregate.survey, self.aggregate.n_reports, in_shards(self.aggregate.counts))
        return place.read_bytes()


def expected(survey: Any, rows: Iterable[Row], files: int) -> Expected:
    """The rows one by one, in plain Python."""
    least: dict[bytes, bytes] = {}
    n = good = foreign = 0
    for n, (report_id, report) in enumerate(rows, start=1):  # noqa: B007
        if report_id is None or report is None or len(report_id) != 16 or len(report) < 4:
            continue
        if report[:4] != survey.tag:
            foreign += 1
            continue
        try:
            survey.mechanism.decode(report[4:])
        except ReportError:
            continue
        good += 1
        least[report_id] = min(report, least.get(report_id, report))
    counted = len(least)
    tally = Tally(files, n, counted, good - counted, foreign, n - good - foreign)
    return Expected(survey.aggregate().add(list(least.values())), tally)


def write_parquet(
    path: Path,
    rows: Rows,
    *,
    stated: dict[str, str] | None = None,
    id_type: Any = None,
    report_type: Any = None,
    group: int | None = None,
) -> Path:
    """Rows as a Parquet file, with metadata if there is any to state."""
    columns = {
        "report_id": pa.array([report_id for report_id, _ in rows], type=id_type or pa.binary()),
        "other": pa.array(range(len(rows))),
        "report": pa.array([report for _, report in rows], type=report_type or pa.binary()),
    }
    table = pa.table(columns).replace_schema_metadata(stated)
    pq.write_table(table, path, row_group_size=group, write_page_checksum=True)
    return path


def write_segment(path: Path, survey: Any, rows: Rows) -> Path:
    """Rows as a raw batch."""
    path.write_bytes(encode_batch(survey.id, [(report_id or b"", report or b"") for report_id, report in rows]))
    return path


def agrees(engine: Engine, survey: Any, paths: Any, wanted: Expected, folder: Path, faults: Any = "refuse") -> None:
    """One job: integers, tally, and bytes of the file."""
    with engine.count(survey, paths, faults=faults) as counted:
        assert counted.tally == wanted.tally
        assert counted.aggregate() == wanted.aggregate
        written = counted.save(folder / "counted.bin")
        assert written.path.read_bytes() == wanted.file(folder)


def bad_rows(survey: Any, reports: tuple[bytes, ...]) -> Rows:
    """One row for every way in which a row can be wrong."""
    ids, sound, width = new_ids(12, 1), reports[0], survey.mechanism.report_bytes
    other = bytes([survey.tag[0] ^ 1]) + sound[1:]
    return [
        (ids[0], other),
        (ids[1], other[:4]),
        (ids[2], other + b"\0" * 9),
        (b"\1" * 15, other),
        (ids[3], survey.tag + b"\xff" * width),
        (ids[4], sound[:-1]),
        (ids[5], sound + b"\0"),
        (ids[6], sound[:3]),
        (ids[7], b""),
        (ids[8], None),
        (None, sound),
        (b"", sound),
        (b"\2" * 17, sound),
        (b"\3" * 8, sound),
    ]


def check_mechanism(name: str, engine: Engine, folder: Path) -> None:
    """Everything at once: skewed files, all types of column, all faults, duplicates within and across files."""
    survey, reports = survey_of(name), reports_of(name, 2000)
    sound: Rows = list(zip(new_ids(2000, 2), reports, strict=True))
    # Sent again: the very same, and with another report under the same id, before or after the first.
    again = sound[10:60]
    differing: Rows = [(report_id, reports[-1 - i]) for i, (report_id, _) in enumerate(sound[40:140])]
    parts: dict[str, Rows] = {"huge.parquet": sound[:1500] + again[:20] + differing[:30], "nothing.parquet": []}
    for i in range(10):
        parts[f"tiny{i}.parquet"] = sound[1500 + 20 * i : 1520 + 20 * i] + differing[30 + 5 * i : 35 + 5 * i]
    parts["faults.parquet"] = bad_rows(survey, reports) + sound[1700:1701]
    same_width: Rows = [(b"\4" * 16, survey.tag + b"\xff" * survey.mechanism.report_bytes), (b"\5" * 16, bytes(20))]
    same_width[1] = (b"\5" * 16, bytes(len(reports[0])))
    types: dict[str, dict[str, Any]] = {
        "huge.parquet": {"group": 400, "id_type": pa.binary(16)},
        "tiny0.parquet": {"id_type": pa.large_binary(), "report_type": pa.large_binary()},
        "tiny1.parquet": {"id_type": pa.binary(16), "report_type": pa.binary(len(reports[0]))},
        "tiny2.parquet": {"stated": {"sottovoce.format": "1", "sottovoce.survey": survey.id}},
    }
    for file, rows in parts.items():
        write_parquet(folder / file, rows, **types.get(file, {}))
    parts["raw.svr"], parts["empty.svr"] = sound[1701:] + again[20:] + differing[80:] + same_width, []
    for file in ("raw.svr", "empty.svr"):
        write_segment(folder / file, survey, parts[file])
    everything = [row for rows in parts.values() for row in rows]
    wanted = expected(survey, everything, len(parts))
    assert wanted.tally.duplicates == 150
    assert wanted.tally.foreign == 4
    agrees(engine, survey, folder, wanted, folder, "skip")


def check_nothing(engine: Engine, folder: Path) -> None:
    """A file without a row is a set of no reports, and no mistake."""
    survey = survey_of("hadamard")
    agrees(engine, survey, write_parquet(folder / "none.parquet", []), expected(survey, [], 1), folder)


def check_one_report(engine: Engine, folder: Path) -> None:
    """One report in a file named three times, one of them a link."""
    survey = survey_of("hadamard")
    rows: Rows = [(b"\7" * 16, reports_of("hadamard", 2000)[0])]
    place = write_parquet(folder / "one.parquet", rows)
    (folder / "link.parquet").symlink_to(place)
    paths = [place, str(folder / "*.parquet"), folder]
    agrees(engine, survey, paths, expected(survey, rows, 1), folder)


def check_one_id(engine: Engine, folder: Path) -> None:
    """Every row has one id, or ids that agree in half of their bytes."""
    survey, reports = survey_of("codebook"), reports_of("codebook", 2000)
    rows: Rows = [(b"\7" * 16, report) for report in reports[:1000]]
    rows += [(bytes(8) + report_id[8:], report) for report_id, report in zip(new_ids(500, 3), reports, strict=False)]
    rows += [(report_id[:8] + bytes(8), report) for report_id, report in zip(new_ids(500, 4), reports, strict=False)]
    for i in range(3):
        write_parquet(folder / f"{i}.parquet", rows[i::3])
    wanted = expected(survey, rows, 3)
    assert wanted.tally.counted == 1001
    agrees(engine, survey, folder, wanted, folder)


def check_skewed_rotations(engine: Engine, folder: Path) -> None:
    """All reports in one rotation of a survey with many: counts that are zero nearly everywhere."""
    survey = sv.Survey(sv.vector(100, 2.0), epsilon=1.0, mechanism="codebook", people=10_000_000)
    cells, size, rng = survey.mechanism.cells, survey.mechanism.parameters()["size"], np.random.default_rng(5)
    assert cells > 2**22
    batch = 2 * (cells - 1 - rng.integers(0, size, 3000)) + rng.integers(0, 2, 3000)
    reports = [survey.tag + row.tobytes() for row in survey.mechanism.codec.encode_many(batch)]
    rows: Rows = list(zip(new_ids(3000, 6), reports, strict=True))
    for i in range(2):
        write_parquet(folder / f"{i}.parquet", rows[i::2])
    wanted = expected(survey, rows, 2)
    with engine.count(survey, folder) as counted:
        assert counted.tally == wanted.tally
        assert [shard.number for shard in counted.shards()] == [(cells - 1) // 2**20]
        assert counted.save(folder / "counted.bin").path.read_bytes() == wanted.file(folder)


def check_refusals(engine: Engine, folder: Path) -> None:
    """Bad rows refuse everything unless told to skip them; the error counts them and repeats none of their bytes."""
    survey, reports = survey_of("hadamard"), reports_of("hadamard", 2000)
    rows: Rows = list(zip(new_ids(50, 7), reports, strict=False))
    write_parquet(folder / "a.parquet", rows)
    write_parquet(folder / "b.parquet", bad_rows(survey, reports))
    with pytest.raises(ReportError, match=r"of 64 rows, 11 are malformed and 3 are of another survey.*skip"):
        engine.count(survey, folder)
    with pytest.raises(ReportError, match=r"nothing matches .*missing"):
        engine.count(survey, folder / "missing.parquet")


def check_bad_files(engine: Engine, folder: Path) -> None:
    """Files that cannot be used are all named; or left out whole, and told."""
    survey, reports = survey_of("hadamard"), reports_of("hadamard", 2000)
    other = survey_of("randomized_response")
    rows: Rows = list(zip(new_ids(2000, 8), reports, strict=True))
    write_parquet(folder / "good.parquet", rows[:100])
    whole = write_parquet(folder / "whole.parquet", rows, group=500).read_bytes()
    (folder / "whole.parquet").unlink()
    wrong: dict[str, tuple[bytes | Callable[[Path], object], str]] = {
        "cut.parquet": (whole[:-100], "truncated"),
        "short.parquet": (b"PAR1", "truncated"),
        "void.parquet": (b"", "truncated"),
        "text.parquet": (b"hello, " * 100, "not a Parquet"),
        "foreign.parquet": (
            lambda path: write_parquet(path, rows, stated={"sottovoce.survey": other.id}),
            f"reports of survey {other.id[:12]}",
        ),
        "later.parquet": (lambda path: write_parquet(path, rows, stated={"sottovoce.format": "9"}), "format 9"),
        "numbers.parquet": (
            lambda path: pq.write_table(pa.table({"report_id": [1], "report": [b"x"]}), path),
            "column report_id is of type int64",
        ),
        "strings.parquet": (
            lambda path: pq.write_table(pa.table({"report_id": [b"x"], "report": ["x"]}), path),
            "column report is of type string",
        ),
        "lacking.parquet": (lambda path: pq.write_table(pa.table({"report": [b"x"]}), path), "no column report_id"),
        "foreign.svr": (lambda path: write_segment(path, other, rows), f"reports of survey {other.id[:12]}"),
        "cut.svr": (encode_batch(survey.id, rows)[:-1], "truncated"),  # type: ignore[arg-type]
        "text.svr": (b"hello", "not a batch"),
    }
    for name, (content, _) in wrong.items():
        if isinstance(content, bytes):
            (folder / name).write_bytes(content)
        else:
            content(folder / name)
    (folder / "dangling.parquet").symlink_to(folder / "gone.parquet")
    reasons = {str(folder / name): reason for name, (_, reason) in wrong.items()}
    reasons[str(folder / "dangling.parquet")] = "does not exist"
    with pytest.raises(ReportError, match=r"13 files cannot be used: .*and 10 more"):
        engine.count(survey, folder)
    wanted = expected(survey, rows[:100], 1)
    with engine.count(survey, folder, faults="skip") as counted:
        assert counted.aggregate() == wanted.aggregate
        told = counted.tally
    assert [bad.path for bad in told.bad_files] == sorted(reasons)
    assert all(reasons[bad.path] in bad.reason for bad in told.bad_files)
    assert Tally(told.files, told.rows, told.counted) == wanted.tally


def check_damaged_pages(engine: Engine, folder: Path) -> None:
    """A file whose footer is sound and whose pages are not: left out whole, also where part of it was read."""
    survey, reports = survey_of("hadamard"), reports_of("hadamard", 2000)
    rows: Rows = list(zip(new_ids(2000, 9), reports, strict=True))
    write_parquet(folder / "good.parquet", rows[:300])
    place = write_parquet(folder / "harm.parquet", rows[200:], group=100)
    chunk = pq.read_metadata(place).row_group(12).column(2)
    content = bytearray(place.read_bytes())
    first = chunk.dictionary_page_offset or chunk.data_page_offset
    content[first : first + chunk.total_compressed_size] = b"\xff" * chunk.total_compressed_size
    place.write_bytes(content)
    with pytest.raises(ReportError, match=r"harm\.parquet"):
        engine.count(survey, folder)
    wanted = expected(survey, rows[:300], 1)
    with engine.count(survey, folder, faults="skip") as counted:
        assert counted.aggregate() == wanted.aggregate
        assert [bad.path for bad in counted.tally.bad_files] == [str(place)]


def check_ids_unique(engine: Engine, folder: Path) -> None:
    """Ids declared unique that are, though many agree in half of their bytes; a copied file is refused."""
    survey, reports = survey_of("hadamard"), reports_of("hadamard", 2000)
    ids = [bytes(8) + report_id[8:] if i % 3 else report_id for i, report_id in enumerate(new_ids(2000, 10))]
    rows: Rows = list(zip(ids, reports, strict=True))
    for i in range(3):
        write_parquet(folder / f"{i}.parquet", rows[i::3], group=300)
    wanted = expected(survey, rows, 3)
    with engine.count(survey, folder, ids_unique=True) as counted:
        assert (counted.tally, counted.ids) == (wanted.tally, "declared")
        assert counted.save(folder / "counted.bin").path.read_bytes() == wanted.file(folder)
    (folder / "copy.parquet").write_bytes((folder / "1.parquet").read_bytes())
    with pytest.raises(ReportError, match=r"declared unique, but 667 rows have the id .*Nothing was counted.*--no-ids"):
        engine.count(survey, folder, ids_unique=True)


def check_ids_stated(engine: Engine, folder: Path) -> None:
    """Parts of one export are believed, unless the caller does not; and refused where they do not tell the truth."""
    survey, reports = survey_of("hadamard"), reports_of("hadamard", 2000)
    rows: Rows = list(zip(new_ids(900, 11), reports, strict=False))

    def part(number: int, mine: Rows) -> None:
        stated = {"unique_in": "one export", "segment": str(number), "rows": str(len(mine))}
        metadata = {f"sottovoce.{name}": value for name, value in stated.items()}
        write_parquet(folder / f"{number}.parquet", mine, stated=metadata)

    part(1, rows[:400])
    part(2, rows[400:800])
    with engine.count(survey, folder) as counted:
        assert (counted.tally, counted.ids) == (expected(survey, rows[:800], 2).tally, "stated")
    part(3, rows[797:])
    with pytest.raises(ReportError, match=r"the files' metadata state .* but 3 rows have the id of another row"):
        engine.count(survey, folder)
    with engine.count(survey, folder, ids_unique=False) as counted:
        assert (counted.tally.duplicates, counted.ids) == (3, "removed")
        assert counted.aggregate() == expected(survey, rows, 3).aggregate


def check_mixed_schemas(engine: Engine, folder: Path) -> None:
    """Files of several pipelines in one folder: bytes of every type, other columns, any order; text is named."""
    survey, reports = survey_of("hadamard"), reports_of("hadamard", 2000)
    rows: Rows = list(zip(new_ids(600, 10), reports, strict=False))
    parts = [rows[:200], rows[150:300], rows[300:400], rows[400:500], rows[500:]]
    kinds = [
        (pa.binary(), pa.binary()),
        (pa.binary(16), pa.large_binary()),
        (pa.large_binary(), pa.binary(len(reports[0]))),
    ]
    for number, (id_type, report_type) in enumerate(kinds):
        write_parquet(folder / f"{number}.parquet", parts[number], id_type=id_type, report_type=report_type)
    worded, turned = ([pa.array(column) for column in zip(*part, strict=True)] for part in parts[3:])
    words = pa.table({"report_id": worded[0].dictionary_encode(), "report": worded[1].dictionary_encode()})
    pq.write_table(words, folder / "3.parquet", compression="gzip", row_group_size=30)
    within = pa.StructArray.from_arrays(turned, ["report_id", "report"])
    columns = {"report": turned[1], "nested": within, "other": turned[1], "report_id": turned[0]}
    pq.write_table(pa.table(columns), folder / "4.parquet", compression="none", data_page_version="2.0")
    texts = pa.table({"report_id": [one.hex() for one, _ in rows[:3] if one], "report": list(reports[:3])})
    pq.write_table(texts, folder / "texts.parquet")
    pq.write_table(pa.table({"nested": within}), folder / "within.parquet")
    lists = pa.table({"report_id": [[one] for one, _ in rows[:3]], "report": list(reports[:3])})
    pq.write_table(lists, folder / "lists.parquet")
    told = {"lists": "column report_id is of type list", "texts": "column report_id is of type string"}
    told["within"] = "it has no column report_id"
    with pytest.raises(ReportError, match=r"3 files cannot be used: .*lists.*texts.*within"):
        engine.count(survey, folder)
    wanted = expected(survey, [row for part in parts for row in part], 5)
    with engine.count(survey, folder, faults="skip") as counted:
        assert counted.aggregate() == wanted.aggregate
        tally = counted.tally
    assert (tally.files, tally.rows, tally.duplicates) == (5, 650, 50)
    assert {Path(bad.path).stem: bad.reason.split("<")[0] for bad in tally.bad_files} == {
        name: reason if name != "texts" else f"{reason}, not of bytes (binary)" for name, reason in told.items()
    }


def check_other_files(engine: Engine, folder: Path) -> None:
    """A folder as Spark leaves it, with whatever else lies about: only reports are read."""
    survey, reports = survey_of("hadamard"), reports_of("hadamard", 2000)
    rows: Rows = list(zip(new_ids(200, 11), reports, strict=False))
    for number in range(2):
        name = f"part-{number:05d}-0f8fad5b-d9cb-469f-a165-70867728950e-c000.snappy.parquet"
        write_parquet(folder / name, rows[100 * number : 100 * number + 100])
        (folder / f".{name}.crc").write_bytes(b"crc\0\0\0\2\0")
    for name in ("_SUCCESS", ".hidden.parquet", "aggregate.bin", "README.md", "a.parquet.tmp", "b.PARQUET.bak"):
        (folder / name).touch()
    (folder / "survey.json").write_text(survey.to_json(), encoding="utf-8")
    (folder / ("0" * 64)).write_bytes(b"an attachment")
    for name in ("_temporary", "day=1", "folder.parquet"):
        (folder / name).mkdir()
        (folder / name / "deeper.parquet").touch()
    agrees(engine, survey, folder, expected(survey, rows, 2), folder)


CHECKS: Final[dict[str, Check]] = {
    **{f"mechanism {name}": partial(check_mechanism, name) for name in SURVEYS},
    "nothing": check_nothing,
    "one report": check_one_report,
    "one id": check_one_id,
    "skewed rotations": check_skewed_rotations,
    "refusals": check_refusals,
    "bad files": check_bad_files,
    "damaged pages": check_damaged_pages,
    "ids unique": check_ids_unique,
    "ids stated": check_ids_stated,
    "mixed schemas": check_mixed_schemas,
    "other files": check_other_files,
}
"""Every check by its name."""

DEPLOYABLE: Final = {name for name, kind in MECHANISMS.items() if kind.deployable}
"""Every mechanism that a survey may name: `SURVEYS` must have them all."""
