"""The order of pairwise contractions in a product of several labelled arrays.

Up to `_EXACT` operands the order with the least work is found, otherwise a greedy one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from .contraction import Label, Labels

_EXACT = 7  # most operands for an exhaustive search, which compares 3^n / 2 pairs of groups


def contraction_order(
    terms: Sequence[Labels], result: Labels, size: Mapping[Label, int]
) -> list[tuple[int, int]]:
    """Return the positions i < j of the operands of each product; the operands leave the list and
    the product is appended.

    The cost of a pair is the number of multiplications: the product of the sizes of all its axes.
    """
    if len(terms) <= 2:
        return [(0, 1)] if len(terms) == 2 else []
    bits = {label: 1 << k for k, label in enumerate(size)}
    lengths = {bits[label]: n for label, n in size.items()}
    masks = [sum(bits[label] for label in set(term)) for term in terms]
    wanted = sum(bits[label] for label in result)
    if len(terms) <= _EXACT:
        return _positions(_best_tree(masks, wanted, lengths), len(terms))
    return _greedy(masks, wanted, lengths)


def _volume(mask: int, lengths: Mapping[int, int]) -> int:
    out = 1
    while mask:
        low = mask & -mask
        out *= lengths[low]
        mask ^= low
    return out


# A tree of pairs: the position of an operand, or two trees.
_Tree = int | tuple["_Tree", "_Tree"]


def _best_tree(masks: list[int], wanted: int, lengths: Mapping[int, int]) -> _Tree:
    """Dynamic programming over the sets of operands that are already one."""
    n = len(masks)
    everything = (1 << n) - 1
    union = [0] * (everything + 1)
    for group in range(1, everything + 1):
        low = group & -group
        union[group] = union[group ^ low] | masks[low.bit_length() - 1]
    left = [union[g] & (wanted | union[everything ^ g]) for g in range(everything + 1)]
    best: dict[int, tuple[int, int, _Tree]] = {1 << k: (0, 0, k) for k in range(n)}
    for count in range(2, n + 1):
        for group in _groups(n, count):
            stored = _volume(left[group], lengths)
            found: tuple[int, int, _Tree] | None = None
            part = (group - 1) & group
            while part:
                rest = group ^ part
                if part > rest:  # each split is compared once
                    cost = _volume(left[part] | left[rest], lengths)
                    work = best[part][0] + best[rest][0] + cost
                    memory = best[part][1] + best[rest][1] + stored
                    if found is None or (work, memory) < found[:2]:
                        found = (work, memory, (best[rest][2], best[part][2]))
                part = (part - 1) & group
            assert found is not None
            best[group] = found
    return best[everything][2]


def _groups(n: int, count: int) -> Iterator[int]:
    for members in combinations(range(n), count):
        yield sum(1 << k for k in members)


def _positions(tree: _Tree, n: int) -> list[tuple[int, int]]:
    """A tree as positions in the list, inner pairs first."""
    names: list[_Tree] = list(range(n))
    out = []
    waiting = [tree]
    pairs: list[tuple[_Tree, _Tree]] = []
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            pairs.append(node)
            waiting.extend(node)
    for pair in reversed(pairs):
        i, j = sorted((names.index(pair[0]), names.index(pair[1])))
        del names[j], names[i]
        names.append(pair)
        out.append((i, j))
    return out


def _greedy(masks: list[int], wanted: int, lengths: Mapping[int, int]) -> list[tuple[int, int]]:
    """Next the pair whose product takes the least memory beyond its operands, then the cheapest."""
    masks = list(masks)
    out = []
    while len(masks) > 1:
        best: tuple[tuple[int, int], int, int, int] | None = None
        for i, j in combinations(range(len(masks)), 2):
            others = wanted
            for k, mask in enumerate(masks):
                if k not in (i, j):
                    others |= mask
            both = masks[i] | masks[j]
            kept = both & others
            grows = _volume(kept, lengths) - sum(_volume(masks[k], lengths) for k in (i, j))
            key = (grows, _volume(both, lengths))
            if best is None or key < best[0]:
                best = key, i, j, kept
        assert best is not None
        _, i, j, kept = best
        del masks[j], masks[i]
        masks.append(kept)
        out.append((i, j))
    return out
