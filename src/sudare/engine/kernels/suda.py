"""Minimal sample uniques by partition refinement: the heart of SUDA2 (Manning, Haglin, Keane 2008).

A subset of attributes is a bit mask. Masks are visited in rising order, so every subset comes before its
supersets, and the mask without its lowest bit is the last visited one of its size: one buffer per size is
enough. A record that is unique on a mask is left out on all its supersets, where it matches nobody anyway.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True)
def minimal_uniques(
    codes: NDArray[np.int32], sizes: NDArray[np.int64], max_size: int, weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Per class its score, per class and attribute the score of the minimal uniques with that attribute, and
    the number of minimal uniques per size.

    `codes` has one row per class of equal records, `sizes` their sizes, `weight[s]` the score of a minimal
    unique of s attributes.
    """
    rows, width = codes.shape
    score = np.zeros(rows)
    share = np.zeros((rows, width))
    found = np.zeros(width + 1, np.int64)
    first = np.full(rows, -1, np.int64)  # linked lists of the masks on which a class is minimally unique
    link = np.empty(max(rows, 16), np.int64)
    masks = np.empty(max(rows, 16), np.int64)
    used = 0
    order = np.empty((max_size + 1, rows), np.int32)
    start = np.zeros((max_size + 1, rows + 1), np.int32)
    groups = np.zeros(max_size + 1, np.int64)
    order[0] = np.arange(rows)
    groups[0] = 1
    start[0, 1] = rows
    widest = 0
    for column in range(width):
        widest = max(widest, codes[:, column].max() + 1)
    counts = np.zeros(widest, np.int32)
    place = np.empty(widest, np.int32)
    mask = 0
    while mask + 1 < 1 << width:
        mask += 1
        size = _bits(mask)
        if size > max_size:  # so are all masks that add lower bits: step over them
            mask += (mask & -mask) - 1
            continue
        column = _lowest(mask)
        groups[size] = 0
        write = 0
        for g in range(groups[size - 1]):
            low, high = start[size - 1, g], start[size - 1, g + 1]
            base = write
            kept = 0
            for i in range(low, high):  # count the codes of the records that can still be minimal
                row = order[size - 1, i]
                if not _covered(first[row], link, masks, mask):
                    counts[codes[row, column]] += 1
                    order[size, base + kept] = row
                    kept += 1
            # hand out places in order of first appearance; a lone record of a class of one is unique
            cursor = base
            for i in range(kept):
                code = codes[order[size, base + i], column]
                if counts[code] > 0:
                    place[code] = cursor
                    cursor += counts[code]
                    counts[code] = -counts[code]
            write = _scatter(
                order[size], base, kept, codes[:, column], counts, place, start[size], groups, size
            )
        # report and remove the uniques
        write = 0
        kept_groups = 0
        for g in range(groups[size]):
            low, high = start[size, g], start[size, g + 1]
            row = order[size, low]
            if high - low == 1 and sizes[row] == 1:
                if used == len(link):
                    link = np.concatenate((link, np.empty_like(link)))
                    masks = np.concatenate((masks, np.empty_like(masks)))
                link[used] = first[row]
                masks[used] = mask
                first[row] = used
                used += 1
                found[size] += 1
                score[row] += weight[size]
                for attribute in range(width):
                    if mask >> attribute & 1:
                        share[row, attribute] += weight[size]
            else:
                begin = write
                for i in range(low, high):
                    order[size, write] = order[size, i]
                    write += 1
                start[size, kept_groups] = begin
                kept_groups += 1
        start[size, kept_groups] = write
        groups[size] = kept_groups
    return score, share, found


@njit(cache=True)
def _scatter(
    order: NDArray[np.int32],
    base: int,
    kept: int,
    column: NDArray[np.int32],
    counts: NDArray[np.int32],
    place: NDArray[np.int32],
    start: NDArray[np.int32],
    groups: NDArray[np.int64],
    size: int,
) -> int:
    """Put the records of a group in the order of their codes' places and note where each code begins."""
    rows = order[base : base + kept].copy()
    for i in range(kept):
        code = column[rows[i]]
        if counts[code] < 0:  # the first record of its code opens a group
            counts[code] = 0
            start[groups[size]] = place[code]
            groups[size] += 1
        order[place[code]] = rows[i]
        place[code] += 1
    start[groups[size]] = base + kept
    return base + kept


@njit(cache=True)
def _covered(node: int, link: NDArray[np.int64], masks: NDArray[np.int64], mask: int) -> bool:
    while node >= 0:
        if masks[node] & mask == masks[node]:
            return True
        node = link[node]
    return False


@njit(cache=True)
def _bits(mask: int) -> int:
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@njit(cache=True)
def _lowest(mask: int) -> int:
    place = 0
    while not mask >> place & 1:
        place += 1
    return place
