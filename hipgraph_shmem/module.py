"""Module (a loaded code object), and the kernels and variables in it."""

from __future__ import annotations

import ctypes
import difflib
import weakref
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar, NoReturn

import numpy as np

from .code_object import CodeObject, KernelMetadata, Target, select
from .device_span import DeviceSpan
from .devices import device_info, on_device
from .errors import CodeObjectError
from .handle import Handle
from .runtime import call, relaxed, state

__all__ = ["Kernel", "Module", "Symbol", "kernel_of"]

_REGISTRY = "modules by function"

FIRST_HIP_WITH_VERSION_6 = 6_03_00000
VERSION_6 = 6


class Module(Handle):
    """A code object loaded on a device.

    The image is read before HIP sees it: what cannot be loaded is refused with the reason.

    Args:
        source: A path, or the bytes of an ELF code object, an offload bundle or a compressed one.
        device: The device it is loaded on; None: the current one of this thread.

    Raises:
        CodeObjectError: a damaged image, or none for this device.
    """

    destroy: ClassVar[str] = "hipModuleUnload"
    frees_memory: ClassVar[bool] = True
    __slots__ = ("code_object", "device", "functions")

    def __init__(self, source: str | Path | bytes, device: int | None = None) -> None:
        if isinstance(source, bytes):
            image, name = source, f"image of {len(source)} bytes"
        else:
            image, name = Path(source).read_bytes(), str(source)
        with on_device(device) as ordinal:
            target = Target.parse(device_info(ordinal).target)
            # HIP may read the image as late as at the first launch: the code object keeps it.
            self.code_object: CodeObject = select(image, target, name)
            _check_version(self.code_object, call("hipRuntimeGetVersion"))
            # HIP loads in any capture; CUDA, and HIPGRAPH_EMU_DIVERGENCE=error, in relaxed mode.
            with relaxed():
                raw = call("hipModuleLoadData", self.code_object.image)
        self.device: int = ordinal
        self.functions: dict[int, KernelMetadata] = {}
        super().__init__(raw, self.code_object)

    @classmethod
    def borrow(cls, raw: int) -> NoReturn:
        """Refuse: a module of others has no readable image here; load the file with Module."""
        raise TypeError(f"Module.borrow({raw:#x}): load the code object itself with Module(source)")

    @property
    def kernels(self) -> Mapping[str, KernelMetadata]:
        """What the code object says about its kernels, by name."""
        return self.code_object.kernels

    def kernel(self, name: str) -> Kernel:
        """Return a kernel by the name in the metadata (a mangled name for C++).

        Raises:
            ValueError: there is none of that name.
        """
        metadata = self.kernels.get(name)
        if metadata is None:
            raise ValueError(_unknown("kernel", name, self.kernels, self.code_object.source))
        function = call("hipModuleGetFunction", self.handle, name.encode())
        self.functions[function] = metadata
        _registry()[function] = self
        return Kernel(function, metadata, self)

    def symbol(self, name: str) -> Symbol:
        """Return a `__device__` variable by name (mangled unless extern "C" or a plain global).

        Raises:
            ValueError: there is none of that name.
        """
        variables = self.code_object.variables
        if name not in variables:
            raise ValueError(_unknown("symbol", name, variables, self.code_object.source))
        address, nbytes = call("hipModuleGetGlobal", self.handle, name.encode())
        return Symbol(address, nbytes, name, self)


class Kernel:
    """A kernel of a loaded module, which it keeps.

    Attributes:
        function: The hipFunction_t, also when the module is closed; `handle` is the checked way.
        metadata: What the code object says about it.
        module: The module.
        size: Bytes of its argument block, in the form that a launch takes.
    """

    __slots__ = ("function", "metadata", "module", "size")

    def __init__(self, raw: int, metadata: KernelMetadata, module: Module) -> None:
        self.function = raw
        self.metadata = metadata
        self.module = module
        self.size = ctypes.c_size_t(metadata.kernarg_bytes)

    @property
    def name(self) -> str:
        """The name in the metadata."""
        return self.metadata.name

    @property
    def handle(self) -> int:
        """The hipFunction_t.

        Raises:
            ValueError: its module is closed.
        """
        if self.module.closed:
            raise ValueError(f"{self!r}: its module is closed; load it again")
        return self.function

    @property
    def closed(self) -> bool:
        """Whether its module is closed."""
        return self.module.closed

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and (self.function, self.module) == (
            other.function,
            other.module,
        )

    def __hash__(self) -> int:
        return hash((Kernel, self.function))

    def __repr__(self) -> str:
        return f"<Kernel {self.metadata.name} of {self.module!r}>"


def kernel_of(function: int) -> Kernel | None:
    """Return the kernel that a hipFunction_t is; None: of no open module that gave it out."""
    module = _registry().get(function)
    if module is None or module.closed:
        return None
    return Kernel(function, module.functions[function], module)


def _registry() -> weakref.WeakValueDictionary[int, Module]:
    registry: weakref.WeakValueDictionary[int, Module] = state.shared.setdefault(
        _REGISTRY, weakref.WeakValueDictionary()
    )
    return registry


class Symbol(DeviceSpan):
    """A `__device__` variable of a loaded module, as bytes on the device; it keeps the module.

    It is copied in stream order on the stream that the caller names. HIP's own symbol copies go
    through the legacy stream, which loses an open capture.
    """

    __slots__ = ("_address", "device", "dtype", "module", "name", "nbytes", "shape")

    def __init__(self, address: int, nbytes: int, name: str, module: Module) -> None:
        self._address = address
        self.nbytes = nbytes
        self.shape = (nbytes,)
        self.dtype = np.dtype(np.uint8)
        self.device = module.device
        self.name = name
        self.module = module

    @property
    def address(self) -> int:
        """Where the variable is on the device.

        Raises:
            ValueError: its module is closed.
        """
        if self.module.closed:
            raise ValueError(f"{self!r}: its module is closed; load it again")
        return self._address

    @property
    def extent(self) -> tuple[int, int]:
        """First byte and byte behind the last, also when its module is closed."""
        return self._address, self._address + self.nbytes

    @property
    def closed(self) -> bool:
        """Whether its module is closed."""
        return self.module.closed

    def __repr__(self) -> str:
        return f"<Symbol {self.name} {self._address:#x} {self.nbytes} bytes of {self.module!r}>"


def _check_version(code_object: CodeObject, hip_version: int) -> None:
    """Refuse what a runtime older than the code object would only call invalid."""
    if code_object.version >= VERSION_6 and hip_version < FIRST_HIP_WITH_VERSION_6:
        release = f"{hip_version // 10**7}.{hip_version // 10**5 % 100}"
        raise CodeObjectError(
            code_object.source,
            f"code object version {code_object.version}; HIP {release} takes up to 5",
            "rebuild with -mcode-object-version=5, or use ROCm 6.3 or later",
        )


def _unknown(what: str, name: str, known: Iterable[str], source: str) -> str:
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=3) or names[:8]
    return f"{what}={name!r}: {source} has none of that name; it has {', '.join(near) or 'none'}"
