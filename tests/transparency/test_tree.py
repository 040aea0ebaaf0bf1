"""The Merkle tree: against the known vectors, the definitions for every size up to 64, and altered everywhere."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.transparency.tree import (
    EMPTY_ROOT,
    GrowingTree,
    leaf_hash,
    peaks,
    proves_consistency,
    proves_inclusion,
    root_from,
)
from transparency import naive

KNOWN_LEAVES = [
    bytes.fromhex(text)
    for text in (
        *("", "00", "10", "2021", "3031", "40414243", "5051525354555657"),
        "606162636465666768696a6b6c6d6e6f",
    )
]
"""The eight leaves that the implementations of Certificate Transparency are tested with."""

KNOWN_ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]

A = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"
B = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e"
C = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"
D = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"
E = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0"
F = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a"

KNOWN_INCLUSION = [(0, 1, []), (0, 8, [A, B, C]), (5, 8, [D, E, KNOWN_ROOTS[3]]), (2, 3, [KNOWN_ROOTS[1]])]

KNOWN_CONSISTENCY = [(1, 1, []), (1, 8, [A, B, C]), (6, 8, [F, E, KNOWN_ROOTS[3]]), (2, 5, [B, D])]

MOST = 64
LEAVES = [b"leaf %d" % number for number in range(MOST)]


def tree_of(leaves: list[bytes]) -> GrowingTree:
    tree = GrowingTree()
    for leaf in leaves:
        tree.append(leaf_hash(leaf))
    return tree


@cache
def tree() -> GrowingTree:
    return tree_of(LEAVES)


def in_hex(proof: list[bytes]) -> list[str]:
    return [one.hex() for one in proof]


def test_the_known_vectors() -> None:
    known = tree_of(KNOWN_LEAVES)
    assert in_hex([known.root(size) for size in range(1, 9)]) == KNOWN_ROOTS
    for position, size, proof in KNOWN_INCLUSION:
        assert in_hex(known.inclusion(position, size)) == proof
    for old, new, proof in KNOWN_CONSISTENCY:
        assert in_hex(known.consistency(old, new)) == proof


def test_the_empty_tree() -> None:
    empty = GrowingTree()
    assert (empty.size, empty.root(0), empty.frontier(0)) == (0, EMPTY_ROOT, [])
    assert root_from(0, [], []) == EMPTY_ROOT == naive.root([])
    assert proves_consistency(0, 5, EMPTY_ROOT, tree().root(5), [])
    assert not proves_consistency(0, 5, EMPTY_ROOT, tree().root(5), [tree().root(5)])
    for wrong in (lambda: empty.root(1), lambda: empty.inclusion(0, 0), lambda: tree().consistency(3, 2)):
        with pytest.raises(IndexError):
            wrong()


@pytest.mark.parametrize("size", range(1, MOST + 1))
def test_every_proof_of_every_size_is_that_of_the_definition(size: int) -> None:
    leaves, grown = LEAVES[:size], tree()
    root = naive.root(leaves)
    assert grown.root(size) == root
    for position in range(size):
        proof = grown.inclusion(position, size)
        assert proof == naive.inclusion(position, leaves)
        assert proves_inclusion(leaf_hash(leaves[position]), position, size, proof, root)
    for old in range(1, size + 1):
        proof = grown.consistency(old, size)
        assert proof == naive.consistency(old, leaves)
        assert proves_consistency(old, size, naive.root(leaves[:old]), root, proof)
        assert root_from(old, grown.frontier(old), grown.leaves(old, size)) == root
        assert sum(peaks(old)) == old


def altered(proof: list[bytes]) -> list[list[bytes]]:
    """The proof with each of its bytes changed, with one hash more or less, and in another order."""
    found = [
        [*proof[:place], bytes([*one[:byte], one[byte] ^ 1, *one[byte + 1 :]]), *proof[place + 1 :]]
        for place, one in enumerate(proof)
        for byte in range(len(one))
    ]
    found += [[*proof, bytes(32)], [bytes(32), *proof], [*proof, b""]]
    if proof:
        found += [
            [*proof, proof[-1]],
            proof[1:],
            proof[:-1],
            [*proof[:-1], proof[-1][:-1]],
            [*proof[:-1], proof[-1] + b"\0"],
        ]
    return found + ([proof[::-1]] if len(proof) > 1 else [])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 13, 21])
def test_every_altered_byte_of_a_proof_is_refused(size: int) -> None:
    root = tree().root(size)
    for position in range(size):
        leaf, proof = leaf_hash(LEAVES[position]), tree().inclusion(position, size)
        assert not any(proves_inclusion(leaf, position, size, wrong, root) for wrong in altered(proof))
        assert not proves_inclusion(leaf_hash(b"another"), position, size, proof, root)
        assert not proves_inclusion(leaf, size, size, proof, root)
        assert not proves_inclusion(leaf, -1, size, proof, root)
    for old in range(1, size):
        proof, old_root = tree().consistency(old, size), tree().root(old)
        assert not any(proves_consistency(old, size, old_root, root, wrong) for wrong in altered(proof))
        assert not proves_consistency(old, size, tree().root(old + 1), root, proof)
        assert not proves_consistency(old, size, old_root, tree().root(size + 1), proof)
        assert not proves_consistency(size, old, root, old_root, proof)
    assert not proves_consistency(size, size, root, root, [root])


@given(st.integers(1, MOST), st.integers(1, MOST), st.integers(0, MOST), st.lists(st.binary(min_size=32, max_size=32)))
def test_no_invented_proof_is_accepted(old: int, new: int, position: int, proof: list[bytes]) -> None:
    assert not (old < new and proves_consistency(old, new, tree().root(old), tree().root(new), proof))
    assert not proves_inclusion(leaf_hash(b"another"), position, new, proof, tree().root(new))


@given(st.lists(st.binary(max_size=5), max_size=40), st.data())
def test_two_lists_are_consistent_only_if_one_begins_with_the_other(leaves: list[bytes], data: st.DataObject) -> None:
    old = data.draw(st.integers(0, len(leaves)))
    changed = data.draw(st.integers(0, old - 1)) if old else None
    grown = tree_of(leaves)
    proof = grown.consistency(old, len(leaves))
    assert proves_consistency(old, len(leaves), grown.root(old), grown.root(len(leaves)), proof)
    if changed is not None:
        other = tree_of([*leaves[:changed], leaves[changed] + b"!", *leaves[changed + 1 :]])
        for one in (proof, other.consistency(old, len(leaves))):
            assert not proves_consistency(old, len(leaves), other.root(old), grown.root(len(leaves)), one)
