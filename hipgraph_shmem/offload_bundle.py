"""Offload bundles, plain and compressed: the code objects that one image holds, by target."""

from __future__ import annotations

import hashlib
import importlib
import io
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .errors import CodeObjectError
from .target import Target

__all__ = ["BUNDLE_MAGIC", "COMPRESSED_MAGIC", "Entry", "entries"]

BUNDLE_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED_MAGIC = b"CCOB"
MAX_ENTRIES = 4096
MAX_UNCOMPRESSED_BYTES = 1 << 31
READ_BYTES = 1 << 20

_DAMAGED = "the file is damaged: build or copy it again"
_ZLIB, _ZSTD = 0, 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One code object of a bundle."""

    target: Target
    image: bytes


def entries(image: bytes, source: str) -> list[Entry]:
    """Return the device entries of a bundle, in order; host entries and empty ones are left out.

    Raises:
        CodeObjectError: the bundle is damaged, or needs a decompressor that is not there.
    """
    found: list[Entry] = []
    for bundle in _plain_bundles(image, source):
        found.extend(_entries(bundle, source))
    return found


def _plain_bundles(image: bytes, source: str) -> Iterator[bytes]:
    """Yield the plain bundle, or each of the compressed ones that stand one after another."""
    if not image.startswith(COMPRESSED_MAGIC):
        yield image
        return
    at = 0
    while image[at:].startswith(COMPRESSED_MAGIC):
        header = _read_header(image[at:], source)
        yield _decompress(header, image[at + header.size : at + header.total], source)
        at += header.total
    if image[at:].strip(b"\0"):
        raise CodeObjectError(source, f"bytes after the bundle at {at} are no bundle", _DAMAGED)


@dataclass(frozen=True, slots=True)
class _Header:
    size: int
    method: int
    total: int
    uncompressed: int
    digest: bytes


def _read_header(data: bytes, source: str) -> _Header:
    if len(data) < 8:
        raise CodeObjectError(source, "compressed bundle ends in its header", _DAMAGED)
    version, method = struct.unpack_from("<HH", data, 4)
    forms = {1: "<I8s", 2: "<II8s", 3: "<QQ8s"}
    if version not in forms:
        raise CodeObjectError(
            source, f"compressed bundle of unknown version {version}", "use an older clang"
        )
    size = 8 + struct.calcsize(forms[version])
    if len(data) < size:
        raise CodeObjectError(source, "compressed bundle ends in its header", _DAMAGED)
    fields = struct.unpack_from(forms[version], data, 8)
    total = fields[0] if version > 1 else len(data)
    uncompressed, digest = fields[-2:]
    if not size < total <= len(data) or uncompressed > MAX_UNCOMPRESSED_BYTES:
        claim = f"{total} bytes for {uncompressed}"
        problem = f"compressed bundle claims {claim}; there are {len(data)}"
        raise CodeObjectError(source, problem, _DAMAGED)
    return _Header(size, method, total, uncompressed, digest)


def _decompress(header: _Header, payload: bytes, source: str) -> bytes:
    limit = header.uncompressed + 1
    try:
        if header.method == _ZLIB:
            plain = zlib.decompressobj().decompress(payload, limit)
        elif header.method == _ZSTD:
            plain = _decompress_zstd(payload, limit, source)
        else:
            raise CodeObjectError(
                source, f"unknown compression method {header.method}", "build it with zlib or zstd"
            )
    except zlib.error as error:
        raise CodeObjectError(source, f"compressed bundle: {error}", _DAMAGED) from error
    if len(plain) != header.uncompressed:
        problem = f"compressed bundle gives other than the {header.uncompressed} bytes it claims"
        raise CodeObjectError(source, problem, _DAMAGED)
    # The hash guards against damage, nothing else; clang defines it as the first half of MD5.
    if hashlib.md5(plain, usedforsecurity=False).digest()[:8] != header.digest:
        raise CodeObjectError(source, "compressed bundle: its hash does not match", _DAMAGED)
    return plain


def _decompress_zstd(payload: bytes, limit: int, source: str) -> bytes:
    for name in ("compression.zstd", "zstandard"):
        try:
            zstd: Any = importlib.import_module(name)
        except ImportError:
            continue
        try:
            if name == "compression.zstd":
                return bytes(zstd.ZstdDecompressor().decompress(payload, limit))
            return _read_up_to(zstd.ZstdDecompressor().stream_reader(io.BytesIO(payload)), limit)
        except zstd.ZstdError as error:
            raise CodeObjectError(source, f"compressed bundle: {error}", _DAMAGED) from error
    raise CodeObjectError(
        source,
        "the bundle is compressed with zstd, which this Python cannot read",
        "install the package zstandard, or build with -offload-compression-level unset and zlib",
    )


def _read_up_to(reader: Any, limit: int) -> bytes:
    """Read in pieces, so that a false size in the header allocates nothing."""
    pieces = []
    while limit > 0 and (piece := reader.read(min(READ_BYTES, limit))):
        pieces.append(piece)
        limit -= len(piece)
    return b"".join(pieces)


def _entries(bundle: bytes, source: str) -> Iterator[Entry]:
    at = len(BUNDLE_MAGIC) + 8
    if not bundle.startswith(BUNDLE_MAGIC) or len(bundle) < at:
        raise CodeObjectError(source, "no offload bundle where one should start", _DAMAGED)
    (count,) = struct.unpack_from("<Q", bundle, at - 8)
    if count > MAX_ENTRIES:
        raise CodeObjectError(source, f"bundle claims {count} entries", _DAMAGED)
    for index in range(count):
        if at + 24 > len(bundle):
            raise CodeObjectError(source, f"bundle ends in the header of entry {index}", _DAMAGED)
        offset, size, name_size = struct.unpack_from("<QQQ", bundle, at)
        at += 24 + name_size
        if at > len(bundle) or offset + size > len(bundle):
            problem = f"entry {index} of the bundle lies beyond its {len(bundle)} bytes"
            raise CodeObjectError(source, problem, _DAMAGED)
        target = _target_of(bundle[at - name_size : at].decode(errors="replace"), source)
        if target is not None and size:
            yield Entry(target, bundle[offset : offset + size])


def _target_of(name: str, source: str) -> Target | None:
    """Read an entry name, kind-arch-vendor-os-environment-target; None for a host entry."""
    fields = name.split("-", 5)
    if fields[0] == "host":
        return None
    # Before version 4 of the code object format the names had no environment field.
    text = fields[5] if len(fields) > 5 else fields[-1]
    try:
        return Target.parse(text)
    except ValueError as error:
        raise CodeObjectError(source, f"bundle entry {name!r}: {error}", _DAMAGED) from error
