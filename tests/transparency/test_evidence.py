"""The one response of a log to a device: right for every size it remembers, and refused where anything is altered."""

from __future__ import annotations

import hashlib

import msgspec
import pytest

from sottovoce.core.errors import TransparencyError
from sottovoce.core.signing import SigningKey
from sottovoce.protocol.log import PUBLISHED, LogEntry, LogProof
from sottovoce.transparency.evidence import BLOCK_ENTRIES, block_of, check_log_proof, log_proof
from sottovoce.transparency.tree import GrowingTree, leaf_hash
from sottovoce.transparency.tree_head import TreeHead, sign_checkpoint

KEY = SigningKey(bytes(range(32)))
SURVEYS = [hashlib.sha256(b"survey %d" % number).hexdigest() for number in range(3 * BLOCK_ENTRIES + 5)]


def grown(surveys: list[str]) -> GrowingTree:
    tree = GrowingTree()
    for survey in surveys:
        tree.append(leaf_hash(LogEntry(PUBLISHED, survey).leaf))
    return tree


TREE = grown(SURVEYS)
OTHER = grown([SURVEYS[1], SURVEYS[0], *SURVEYS[2:]])
"""The same surveys, the first two in another order."""

EDGES = sorted({max(0, block * BLOCK_ENTRIES + step) for block in range(4) for step in (-1, 0, 1, 2)} & set(range(774)))


def head(size: int, tree: GrowingTree = TREE) -> TreeHead:
    return TreeHead(size, tree.root(size))


def asked(position: int, size: int, block: int, tree: GrowingTree = TREE) -> LogProof:
    return log_proof(tree, sign_checkpoint(KEY, head(size, tree)), size, position, block)


@pytest.mark.parametrize("remembered", [None, *EDGES])
def test_every_size_that_is_remembered_goes_on_to_every_later_one(remembered: int | None) -> None:
    for size in (one for one in (*EDGES, len(SURVEYS)) if one > 0 and one >= (remembered or 0)):
        for position in {0, size // 2, size - 1}:
            before = None if remembered is None else head(remembered)
            proof = asked(position, size, 0 if remembered is None else block_of(remembered))
            assert check_log_proof(proof, KEY.public, SURVEYS[position], before) == head(size)
            if before is not None and 2 <= remembered <= size:  # type: ignore[operator]
                with pytest.raises(TransparencyError, match="does not continue") as caught:
                    check_log_proof(proof, KEY.public, SURVEYS[position], head(before.size, OTHER))
                assert caught.value.conflict


@pytest.mark.parametrize("remembered", [3, BLOCK_ENTRIES, 600])
def test_a_shorter_log_is_a_conflict(remembered: int) -> None:
    proof = asked(0, 2, block_of(remembered))
    with pytest.raises(TransparencyError, match=f"it had {remembered} entries, and now 2") as caught:
        check_log_proof(proof, KEY.public, SURVEYS[0], head(remembered))
    assert caught.value.conflict


def test_a_survey_that_is_not_in_it_is_refused() -> None:
    with pytest.raises(TransparencyError, match="does not prove that survey") as caught:
        check_log_proof(asked(4, 9, 0), KEY.public, SURVEYS[5], None)
    assert not caught.value.conflict


def test_every_altered_part_is_refused() -> None:
    remembered = head(300)
    proof = asked(270, 700, block_of(300))
    check_log_proof(proof, KEY.public, SURVEYS[270], remembered)
    for field in ("inclusion", "before", "block", "consistency"):
        hashes: list[str] = getattr(proof, field)
        wrong = [hashes[:-1], [*hashes, hashes[0]], hashes[1:]]
        wrong += [
            [*hashes[:place], ("B" if one[0] == "A" else "A") + one[1:], *hashes[place + 1 :]]
            for place, one in enumerate(hashes)
        ]
        wrong.append([hashes[0][:-1] + "?", *hashes[1:]])
        for one in wrong:
            with pytest.raises(TransparencyError):
                check_log_proof(msgspec.structs.replace(proof, **{field: one}), KEY.public, SURVEYS[270], remembered)
    for other in (asked(270, 700, 0), asked(270, 700, 2), msgspec.structs.replace(proof, position=271)):
        with pytest.raises(TransparencyError):
            check_log_proof(other, KEY.public, SURVEYS[270], remembered)
    with pytest.raises(TransparencyError, match="of the log that key"):
        check_log_proof(proof, SigningKey(bytes(32)).public, SURVEYS[270], remembered)


def test_what_is_asked_for_is_the_same_for_all_who_saw_the_log_within_one_block() -> None:
    assert {block_of(size) for size in range(BLOCK_ENTRIES)} == {0}
    assert len({msgspec.json.encode(asked(7, 300, block_of(size))) for size in range(BLOCK_ENTRIES)}) == 1
