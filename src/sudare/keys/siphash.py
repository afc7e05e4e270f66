"""SipHash-2-4 with 128 bits of output, vectorised over Arrow buffers (Aumasson and Bernstein, 2012).

A keyed hash for record ids: short inputs, secret key, no collisions anyone could steer.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

_C = tuple(
    np.uint64(x) for x in (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
)


@njit(inline="always")
def _rotl(x, b):
    return uint64((x << uint64(b)) | (x >> uint64(64 - b)))


@njit(inline="always")
def _round(v0, v1, v2, v3):
    v0 = uint64(v0 + v1)
    v1 = _rotl(v1, 13) ^ v0
    v0 = _rotl(v0, 32)
    v2 = uint64(v2 + v3)
    v3 = _rotl(v3, 16) ^ v2
    v0 = uint64(v0 + v3)
    v3 = _rotl(v3, 21) ^ v0
    v2 = uint64(v2 + v1)
    v1 = _rotl(v1, 17) ^ v2
    v2 = _rotl(v2, 32)
    return v0, v1, v2, v3


@njit(cache=True)
def _siphash(k0, k1, data, start, end):
    v0 = k0 ^ _C[0]
    v1 = k1 ^ _C[1] ^ uint64(0xEE)
    v2 = k0 ^ _C[2]
    v3 = k1 ^ _C[3]
    length = end - start
    whole = start + (length // 8) * 8
    for p in range(start, whole, 8):
        m = uint64(0)
        for i in range(8):
            m |= uint64(data[p + i]) << uint64(8 * i)
        v3 ^= m
        v0, v1, v2, v3 = _round(v0, v1, v2, v3)
        v0, v1, v2, v3 = _round(v0, v1, v2, v3)
        v0 ^= m
    m = uint64(length & 0xFF) << uint64(56)
    for i in range(end - whole):
        m |= uint64(data[whole + i]) << uint64(8 * i)
    v3 ^= m
    v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    v0 ^= m
    v2 ^= uint64(0xEE)
    for _ in range(4):
        v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    low = v0 ^ v1 ^ v2 ^ v3
    v1 ^= uint64(0xDD)
    for _ in range(4):
        v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    return low, v0 ^ v1 ^ v2 ^ v3


@njit(cache=True)
def hash_bytes(k0, k1, data, offsets, valid, out):
    """The hash of every slice data[offsets[i]:offsets[i+1]]; an invalid (null) slice hashes a mark of its own."""
    null = np.array([0xFF, 0x00, 0xFF], dtype=np.uint8)
    for i in range(out.shape[0]):
        if valid[i]:
            out[i, 0], out[i, 1] = _siphash(k0, k1, data, offsets[i], offsets[i + 1])
        else:
            out[i, 0], out[i, 1] = _siphash(k0, k1, null, 0, 3)


@njit(cache=True)
def hash_integers(k0, k1, values, valid, out):
    """The same for whole numbers, hashed as their decimal text, so that `7` in a file equals 7 in a table."""
    text = np.empty(20, dtype=np.uint8)
    null = np.array([0xFF, 0x00, 0xFF], dtype=np.uint8)
    for i in range(out.shape[0]):
        if not valid[i]:
            out[i, 0], out[i, 1] = _siphash(k0, k1, null, 0, 3)
            continue
        value = values[i]
        negative = value < 0
        rest = uint64(0) - uint64(value) if negative else uint64(value)
        start = 20
        while True:
            start -= 1
            digit = rest % uint64(10)
            text[start] = np.uint8(48 + digit)
            rest = rest // uint64(10)
            if rest == uint64(0):
                break
        if negative:
            start -= 1
            text[start] = np.uint8(45)
        out[i, 0], out[i, 1] = _siphash(k0, k1, text, start, 20)
