"""Code objects read as files, without HIP: target, kernels with their arguments, variables."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from .errors import CodeObjectError
from .msgpack_reader import unpack
from .offload_bundle import BUNDLE_MAGIC, COMPRESSED_MAGIC, Entry, entries
from .target import PROCESSORS, Target, compatible, why_not

__all__ = [
    "Argument",
    "CodeObject",
    "KernelMetadata",
    "Target",
    "code_objects",
    "compatible",
    "select",
    "targets",
    "why_not",
]

ELF_MAGIC = b"\x7fELF"
ELF_HEADER_BYTES = 64
ELF_CLASS_64 = 2
MACHINE_AMDGPU = 224
NOTE_METADATA = 32
PT_LOAD, PT_DYNAMIC, PT_NOTE = 1, 2, 4
DT_HASH, DT_STRTAB, DT_SYMTAB = 4, 5, 6
SYMBOL_OBJECT, SYMBOL_FUNCTION = 1, 2
SYMBOL_BYTES = 24
COMPILATION_MARK = "__hip_cuid_"
NEWEST_VERSION = 6
POINTER_KINDS = ("global_buffer", "dynamic_shared_pointer")
ACCESS_WORDS = ("read_only", "write_only", "read_write")

# The ABI byte of the ELF header is not the code object version: 2 means 4, and so on.
_VERSION_OF_ABI = ((0, 2), (1, 3), (2, 4), (3, 5), (4, 6))
_UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, struct.error)
_SETTINGS = (None, None, False, True)
_DAMAGED = "the file is damaged: build or copy it again"


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument in a kernel's kernarg segment, as the metadata tell it."""

    name: str
    offset: int
    size: int
    kind: str
    type_name: str
    is_pointer: bool
    """Whether it takes a device address."""
    access: str
    """What the kernel does to the memory behind it: read_only, write_only or read_write."""

    @property
    def is_hidden(self) -> bool:
        """Whether the runtime fills it, not the caller."""
        return self.kind.startswith("hidden_")


@dataclass(frozen=True, slots=True)
class KernelMetadata:
    """What a code object says about one kernel."""

    name: str
    symbol: str
    kernarg_bytes: int
    arguments: tuple[Argument, ...]
    explicit: tuple[Argument, ...]
    """The arguments that a launch gives, in order."""
    lds_bytes: int
    private_bytes: int
    wavefront_size: int
    max_threads_per_block: int
    required_block: tuple[int, int, int] | None
    vgprs: int
    agprs: int
    sgprs: int


class CodeObject:
    """One ELF image for one target.

    Args:
        image: The bytes of the ELF file.
        source: What to call it in errors, for example its path.

    Raises:
        CodeObjectError: it is damaged, not for a GPU, or of a version that is not supported.
    """

    def __init__(self, image: bytes, source: str = "code object") -> None:
        self.image, self.source = image, source
        self._check_header()
        self._segments = tuple(self._read_segments())
        self.version = self._read_version()
        self.target = self._read_target(self._header[6])

    @property
    def _header(self) -> tuple[Any, ...]:
        return struct.unpack_from("<HHIQQQIHHHHHH", self.image, 16)

    def _refuse(self, problem: str, cure: str = _DAMAGED) -> CodeObjectError:
        return CodeObjectError(self.source, problem, cure)

    def _check_header(self) -> None:
        if not self.image:
            raise self._refuse("empty image")
        if not self.image.startswith(ELF_MAGIC):
            forms = "an ELF code object, an offload bundle or a compressed one"
            raise self._refuse(f"starts with {self.image[:4]!r}", f"give {forms}")
        if len(self.image) < ELF_HEADER_BYTES:
            raise self._refuse(f"ELF file of {len(self.image)} bytes ends in its header")
        machine = struct.unpack_from("<H", self.image, 18)[0]
        if self.image[4] != ELF_CLASS_64 or machine != MACHINE_AMDGPU:
            problem = f"not a GPU code object: ELF machine {machine}"
            raise self._refuse(problem, "give device code, for example from clang --offload-arch")

    def _read_segments(self) -> Iterator[tuple[int, int, int, int, int]]:
        """Yield (type, file offset, address, bytes in file, bytes in memory) of each segment."""
        header = self._header
        start, count, sections, section_count = header[4], header[9], header[5], header[11]
        ends = [start + 56 * count, sections + 64 * section_count]
        segments = []
        if max(ends) <= len(self.image):
            for index in range(count):
                kind, _, offset, address, _, size, memory, _ = struct.unpack_from(
                    "<IIQQQQQQ", self.image, start + 56 * index
                )
                ends.append(offset + size)
                segments.append((kind, offset, address, size, memory))
        if max(ends) > len(self.image):
            raise self._refuse(f"{len(self.image)} bytes of at least {max(ends)} are there")
        yield from segments

    def _read_target(self, flags: int) -> Target:
        processor = dict(PROCESSORS).get(flags & 0xFF)
        if processor is None:
            problem = f"processor number {flags & 0xFF:#x} is not known"
            raise self._refuse(problem, "build it for a known processor, for example gfx942")
        return Target(processor, _SETTINGS[flags >> 10 & 3], _SETTINGS[flags >> 8 & 3])

    def _read_version(self) -> int:
        abi = self.image[8]
        version = dict(_VERSION_OF_ABI).get(abi, NEWEST_VERSION + 1)
        if not 4 <= version <= NEWEST_VERSION:
            age = "newer than" if version > NEWEST_VERSION else f"{version}, older than"
            raise self._refuse(
                f"code object version (ELF ABI byte {abi}) is {age} the supported 4 to 6",
                "rebuild with -mcode-object-version=5",
            )
        return version

    @cached_property
    def kernels(self) -> Mapping[str, KernelMetadata]:
        """The kernels by name."""
        try:
            found = [_kernel(entry) for entry in self._metadata().get("amdhsa.kernels", ())]
        except _UNREADABLE as error:
            raise self._refuse(f"kernel metadata cannot be read: {error}") from error
        return MappingProxyType({kernel.name: kernel for kernel in found})

    @cached_property
    def variables(self) -> Mapping[str, int]:
        """The sizes in bytes of the device variables by name (no kernel descriptors)."""
        try:
            found = {
                name: size
                for name, kind, _, size in self._symbols()
                if kind == SYMBOL_OBJECT
                and not (name.endswith(".kd") or name.startswith(COMPILATION_MARK))
            }
        except _UNREADABLE as error:
            raise self._refuse(f"symbol table cannot be read: {error}") from error
        return MappingProxyType(found)

    @cached_property
    def functions(self) -> Mapping[str, bytes]:
        """The instructions of kernels and device functions by name."""
        try:
            places = [
                (name, self._offset_of(address), size)
                for name, kind, address, size in self._symbols()
                if kind == SYMBOL_FUNCTION
            ]
        except _UNREADABLE as error:
            raise self._refuse(f"symbol table cannot be read: {error}") from error
        return MappingProxyType({name: self.image[at : at + size] for name, at, size in places})

    def _metadata(self) -> dict[str, Any]:
        for kind, offset, _, size, _ in self._segments:
            at, end = offset, offset + size
            while kind == PT_NOTE and at + 12 <= end:
                name_size, size_of_data, note = struct.unpack_from("<III", self.image, at)
                start = at + 12 + (name_size + 3 & ~3)
                owner = self.image[at + 12 : at + 12 + name_size].rstrip(b"\0")
                if note == NOTE_METADATA and owner == b"AMDGPU":
                    return dict(unpack(self.image[start : start + size_of_data]))
                at = start + (size_of_data + 3 & ~3)
        return {}

    def _symbols(self) -> Iterator[tuple[str, int, int, int]]:
        """Yield (name, kind, address, size) of each symbol that is defined here."""
        dynamic = self._dynamic()
        if not {DT_HASH, DT_STRTAB, DT_SYMTAB} <= dynamic.keys():
            return
        (count,) = struct.unpack_from("<I", self.image, self._offset_of(dynamic[DT_HASH]) + 4)
        table, names = self._offset_of(dynamic[DT_SYMTAB]), self._offset_of(dynamic[DT_STRTAB])
        for index in range(1, count):
            name_at, info, _, section, address, size = struct.unpack_from(
                "<IBBHQQ", self.image, table + SYMBOL_BYTES * index
            )
            start = names + name_at
            name = self.image[start : self.image.index(b"\0", start)].decode(errors="replace")
            if section:
                yield name, info & 15, address, size

    def _dynamic(self) -> dict[int, int]:
        found: dict[int, int] = {}
        for kind, offset, _, size, _ in self._segments:
            if kind == PT_DYNAMIC:
                for at in range(offset, offset + size - 15, 16):
                    tag, value = struct.unpack_from("<QQ", self.image, at)
                    found.setdefault(tag, value)
        return found

    def _offset_of(self, address: int) -> int:
        for kind, offset, start, size, _ in self._segments:
            if kind == PT_LOAD and start <= address < start + size:
                return offset + address - start
        raise ValueError(f"address {address:#x} is in no segment")


def targets(image: bytes, source: str = "code object") -> tuple[Target, ...]:
    """Return the targets that an image holds code for."""
    return tuple(entry.target for entry in _all_entries(image, source))


def code_objects(image: bytes, source: str = "code object") -> tuple[CodeObject, ...]:
    """Return every code object of an image, bundle or not."""
    return tuple(CodeObject(entry.image, source) for entry in _all_entries(image, source))


def select(image: bytes, device_target: Target, source: str = "code object") -> CodeObject:
    """Return the code object in an image, bundle or not, that fits a device best.

    Among several the exact processor wins over a generic one, then more named features.

    Raises:
        CodeObjectError: none fits; it lists what the image holds and why each does not.
    """
    found = _all_entries(image, source)
    fitting = [entry for entry in found if compatible(entry.target, device_target)]
    if not fitting:
        reasons = (
            "; ".join(f"{entry.target}: {why_not(entry.target, device_target)}" for entry in found)
            or "it holds no device code"
        )
        raise CodeObjectError(
            source,
            f"no code for device {device_target}: {reasons}",
            f"build it with --offload-arch={device_target.processor}",
        )
    best = max(fitting, key=lambda entry: _fitness(entry.target, device_target))
    chosen = CodeObject(best.image, source)
    if not compatible(chosen.target, device_target):
        problem = f"entry {best.target} holds an object for {chosen.target}"
        raise CodeObjectError(source, problem, _DAMAGED)
    return chosen


def _fitness(target: Target, device: Target) -> tuple[bool, int]:
    return target.processor == device.processor, len(target.named)


def _all_entries(image: bytes, source: str) -> list[Entry]:
    if image.startswith((BUNDLE_MAGIC, COMPRESSED_MAGIC)):
        return entries(image, source)
    return [Entry(CodeObject(image, source).target, image)]


def _kernel(entry: dict[str, Any]) -> KernelMetadata:
    block = entry.get(".reqd_workgroup_size")
    arguments = tuple(_argument(argument) for argument in entry.get(".args", ()))
    kernarg_bytes = entry[".kernarg_segment_size"]
    for argument in arguments:
        if not 0 <= argument.offset <= argument.offset + argument.size <= kernarg_bytes:
            raise ValueError(f"an argument lies outside the {kernarg_bytes} bytes of arguments")
    return KernelMetadata(
        name=entry[".name"],
        symbol=entry[".symbol"],
        kernarg_bytes=kernarg_bytes,
        arguments=arguments,
        explicit=tuple(argument for argument in arguments if not argument.is_hidden),
        lds_bytes=entry.get(".group_segment_fixed_size", 0),
        private_bytes=entry.get(".private_segment_fixed_size", 0),
        wavefront_size=entry.get(".wavefront_size", 64),
        max_threads_per_block=entry.get(".max_flat_workgroup_size", 0),
        required_block=(block[0], block[1], block[2]) if block else None,
        vgprs=entry.get(".vgpr_count", 0),
        agprs=entry.get(".agpr_count", 0),
        sgprs=entry.get(".sgpr_count", 0),
    )


def _argument(entry: dict[str, Any]) -> Argument:
    return Argument(
        name=entry.get(".name", ""),
        offset=entry[".offset"],
        size=entry[".size"],
        kind=entry[".value_kind"],
        type_name=entry.get(".type_name", entry.get(".value_type", "")),
        is_pointer=entry[".value_kind"] in POINTER_KINDS,
        access=_access(entry),
    )


def _access(entry: dict[str, Any]) -> str:
    """Return what the compiler found, else what the source promises, else the widest."""
    for key in (".actual_access", ".access"):
        if entry.get(key) in ACCESS_WORDS:
            return str(entry[key])
    return "read_only" if entry.get(".is_const") else "read_write"
