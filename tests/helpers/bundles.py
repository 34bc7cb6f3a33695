"""Offload bundles written by the format's description, to compare the reader with."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Callable

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"


def plain(*named: tuple[str, bytes]) -> bytes:
    """Bundle entries of (name, image)."""
    offset = len(MAGIC) + 8 + sum(24 + len(name) for name, _ in named)
    table, images = b"", b""
    for name, image in named:
        table += struct.pack("<QQQ", offset + len(images), len(image), len(name)) + name.encode()
        images += image
    return MAGIC + struct.pack("<Q", len(named)) + table + images


def compressed(
    bundle: bytes,
    version: int,
    *,
    method: int = 0,
    compress: Callable[[bytes], bytes] = zlib.compress,
    claimed: int | None = None,
    digest: bytes | None = None,
) -> bytes:
    """Wrap a bundle as CCOB; `claimed` and `digest` falsify the header."""
    payload = compress(bundle)
    size = len(bundle) if claimed is None else claimed
    md5 = hashlib.md5(bundle).digest()[:8] if digest is None else digest
    form = {1: "<I8s", 2: "<II8s", 3: "<QQ8s"}.get(version, "<QQ8s")
    total = 8 + struct.calcsize(form) + len(payload)
    fields = (size, md5) if version == 1 else (total, size, md5)
    return b"CCOB" + struct.pack("<HH", version, method) + struct.pack(form, *fields) + payload
