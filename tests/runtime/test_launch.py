"""Packing is compared with the C layout that ctypes gives and with the metadata's offsets."""

import ctypes
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from helpers.captures import recording
from helpers.kernels import arguments_code_object, compile_hip

from hipgraph_shmem.code_object import CodeObject
from hipgraph_shmem.errors import HipError
from hipgraph_shmem.launch import LaunchConfig, launch, launch_packed, pack
from hipgraph_shmem.memory import Buffer, PinnedBuffer, zeros
from hipgraph_shmem.module import Kernel, Module
from hipgraph_shmem.stream import Stream


class Pair(ctypes.Structure):
    _fields_ = (("x", ctypes.c_float), ("y", ctypes.c_float))


class Triple(ctypes.Structure):
    _fields_ = (("x", ctypes.c_float), ("y", ctypes.c_float), ("z", ctypes.c_float))


class Bytes(ctypes.Structure):
    _fields_ = (("a", ctypes.c_byte), ("b", ctypes.c_byte), ("c", ctypes.c_byte))


class Mixed(ctypes.Structure):
    """The kernel's arguments in C, up to `quad`, whose alignment of 16 ctypes cannot say."""

    _fields_ = (
        ("c", ctypes.c_byte),
        ("pair", Pair),
        ("p", ctypes.c_void_p),
        ("triple", Triple),
        ("bytes", Bytes),
    )


QUAD = np.array([1, 2, 3, 4.5], np.float32).tobytes()
ARGS = (-3, Pair(1, 2), 0x1122334455, Triple(1, 2, 3), Bytes(1, 2, 3), QUAD, 2.5, -2, True, None)


@pytest.fixture(scope="module")
def metadata():
    return CodeObject(arguments_code_object()).kernels["mixed"]


def test_every_argument_lies_where_c_puts_it(metadata):
    block = pack(metadata, ARGS)
    assert len(block) == metadata.kernarg_bytes
    expected = bytes(Mixed(-3, Pair(1, 2), 0x1122334455, Triple(1, 2, 3), Bytes(1, 2, 3)))
    # ctypes leaves padding as it made it: zero, as in our block.
    assert block[: Mixed.bytes.offset + 3] == expected[: Mixed.bytes.offset + 3]
    assert block[48:64] == QUAD
    rest = np.frombuffer(block[64:88], [("d", "<f8"), ("s", "<i2"), ("b", "u1"), ("_", "V5"),
                                        ("q", "<u8")])  # fmt: skip
    assert rest[["d", "s", "b", "q"]].tolist() == [(2.5, -2, 1, 0)]


def test_every_argument_lies_where_the_metadata_say(metadata):
    for index, argument in enumerate(metadata.explicit):
        block = pack(metadata, tuple(
            (0xFF if argument.is_pointer else b"\xff" * argument.size) if at == index
            else (None if other.is_pointer else bytes(other.size))
            for at, other in enumerate(metadata.explicit)
        ))  # fmt: skip
        touched = [at for at, byte in enumerate(block) if byte]
        assert touched[0] == argument.offset
        assert touched[-1] < argument.offset + argument.size


def test_equal_arguments_give_equal_blocks(metadata):
    assert pack(metadata, ARGS) == pack(metadata, ARGS)


SCALARS = """
extern "C" __global__ void scalars(signed char i8, unsigned short u16, int i32, unsigned long u64,
                                   float f32, double f64, _Float16 f16, int* p) {
  if (p) p[0] = i8 + u16 + i32 + (int)u64 + (int)f32 + (int)f64 + (int)f16; }
"""


@pytest.fixture(scope="module")
def scalars():
    return CodeObject(compile_hip(SCALARS)).kernels["scalars"]


LAYOUT = np.dtype(
    {
        "names": ["i8", "u16", "i32", "u64", "f32", "f64", "f16", "p"],
        "formats": ["i1", "<u2", "<i4", "<u8", "<f4", "<f8", "<f2", "<u8"],
        "offsets": [0, 2, 4, 8, 16, 24, 32, 40],
    }
)
GOOD = [-1, 65535, -7, 2**64 - 1, 1.5, -2.25, np.float16(0.5), 0x1000]


def packed(metadata, args):
    return np.frombuffer(pack(metadata, tuple(args))[: LAYOUT.itemsize], LAYOUT)[0]


def test_python_scalars_by_declared_size(scalars):
    assert packed(scalars, GOOD).tolist() == (-1, 65535, -7, 2**64 - 1, 1.5, -2.25, 0.5, 0x1000)


def test_numpy_and_ctypes_scalars_by_value(scalars):
    args = [np.int8(-1), np.uint16(3), ctypes.c_int(-7), np.uint64(9), np.float32(1.5),
            ctypes.c_double(2), ml_dtypes.bfloat16(1), np.uint64(0x1000)]  # fmt: skip
    found = packed(scalars, args)
    assert found["i32"] == -7
    assert found["f64"] == 2
    assert found["f16"].view(np.uint16) == 0x3F80  # bfloat16 bits, as given
    assert found["p"] == 0x1000


BAD_VALUES = [
    (0, 256, ValueError),
    (0, -129, ValueError),
    (1, 1 << 16, ValueError),
    (2, 1 << 32, ValueError),
    (3, 1 << 64, ValueError),
    (7, -1, ValueError),
    (7, 1 << 64, ValueError),
    (2, np.int64(1), TypeError),
    (4, np.float64(1), TypeError),
    (6, 0.5, TypeError),
    (2, 1.5, None),
    (2, np.zeros(1, np.int32), TypeError),
    (2, "1", TypeError),
    (2, None, TypeError),
    (2, b"123", TypeError),
    (7, 1.5, TypeError),
    (7, True, TypeError),
    (7, np.zeros(4), TypeError),
    (7, b"bytes", TypeError),
    (7, [1], TypeError),
    (7, np.float32(1), TypeError),
]


@pytest.mark.parametrize("index, value, error", [row for row in BAD_VALUES if row[2]], ids=str)
def test_a_wrong_argument_is_refused_with_its_index(scalars, index, value, error):
    args = [*GOOD]
    args[index] = value
    with pytest.raises(error, match=f"argument {index} "):
        pack(scalars, tuple(args))


def test_a_wrong_count_lists_what_is_expected(scalars):
    with pytest.raises(ValueError, match=r"8 arguments, 2 given.*pointer"):
        pack(scalars, (1, 2))


@pytest.mark.parametrize(
    "options",
    [
        {"grid": (0, 1, 1)},
        {"grid": (1, 1)},
        {"grid": (1, 1, 1), "block": (64, 0, 1)},
        {"grid": (1, 1, 1), "lds_bytes": -1},
    ],
)
def test_a_launch_config_that_cannot_be_is_refused(options):
    with pytest.raises(ValueError, match=r"grid=|block=|lds_bytes="):
        LaunchConfig(**options)


def test_a_launch_config_is_frozen_and_compares(metadata):
    config = LaunchConfig((1, 2, 3))
    assert config == LaunchConfig((1, 2, 3), (64, 1, 1), 0)
    assert hash(config) == hash(LaunchConfig((1, 2, 3)))
    with pytest.raises(AttributeError):
        config.grid = (1, 1, 1)


KERNELS = """
extern "C" __global__ void where(int* out, int base) {
  int block = (__builtin_amdgcn_workgroup_id_z() * 2 + __builtin_amdgcn_workgroup_id_y()) * 3
              + __builtin_amdgcn_workgroup_id_x();
  int thread = __builtin_amdgcn_workitem_id_y() * 4 + __builtin_amdgcn_workitem_id_x();
  out[block * 8 + thread] = base + block * 100 + thread; }
extern "C" __global__ __launch_bounds__(64) void small() {}
extern "C" __global__ void dynamic(int* out) {
  extern __attribute__((shared)) int lds[];
  lds[__builtin_amdgcn_workitem_id_x()] = __builtin_amdgcn_workitem_id_x() + 1;
  __builtin_amdgcn_s_barrier();
  out[__builtin_amdgcn_workitem_id_x()] = lds[63 - __builtin_amdgcn_workitem_id_x()]; }
"""


@pytest.fixture
def module(device):
    with Module(compile_hip(KERNELS, device.target.split(":")[0])) as loaded:
        yield loaded


EXPECTED = np.array([1000 + b * 100 + t for b in range(12) for t in range(8)])
CONFIG = LaunchConfig((3, 2, 2), (4, 2, 1))


def test_a_launch_covers_its_grid(stream, module):
    with zeros(96, np.int32, stream) as out:
        launch(stream, module.kernel("where"), CONFIG, out, 1000)
        assert (out.to_numpy(stream) == EXPECTED).all()


@pytest.mark.parametrize("form", ["buffer", "address", "numpy address", "view", "interface"])
def test_pointers_in_every_form(stream, module, form):
    class Interface:
        def __init__(self, buffer):
            self.__cuda_array_interface__ = buffer.__cuda_array_interface__

    with zeros(96, np.int32, stream) as out:
        given = {
            "buffer": out,
            "address": out.address,
            "numpy address": np.uint64(out.address),
            "view": out.view(),
            "interface": Interface(out),
        }[form]
        launch(stream, module.kernel("where"), CONFIG, given, np.int32(1000))
        assert (out.to_numpy(stream.handle) == EXPECTED).all()


def test_pinned_memory_as_a_pointer(stream, module):
    with PinnedBuffer(96, np.int32) as out:
        launch(stream, module.kernel("where"), CONFIG, out, 1000)
        stream.synchronize()
        assert (out.array == EXPECTED).all()


def test_a_packed_block_gives_the_same(stream, module):
    kernel = module.kernel("where")
    with zeros(96, np.int32, stream) as out:
        launch_packed(stream, kernel, CONFIG, pack(kernel.metadata, (out, 1000)))
        assert (out.to_numpy(stream) == EXPECTED).all()
        with pytest.raises(ValueError, match="block has 3 bytes"):
            launch_packed(stream, kernel, CONFIG, b"123")


def test_dynamic_lds(stream, module):
    with zeros(64, np.int32, stream) as out:
        launch(stream, module.kernel("dynamic"), LaunchConfig((1, 1, 1), (64, 1, 1), 256), out)
        assert out.to_numpy(stream).tolist() == list(range(64, 0, -1))


def test_a_block_the_kernel_cannot_have_is_refused(stream, module):
    with pytest.raises(ValueError, match="64 threads"):
        launch(stream, module.kernel("small"), LaunchConfig((1, 1, 1), (128, 1, 1)))


def test_a_block_other_than_the_one_compiled_for_is_refused(stream, module):
    small = module.kernel("small")
    exact = replace(small.metadata, required_block=(32, 2, 1))
    kernel = Kernel(small.handle, exact, module)
    launch(stream, kernel, LaunchConfig((1, 1, 1), (32, 2, 1)))
    with pytest.raises(ValueError, match=r"exactly \(32, 2, 1\)"):
        launch(stream, kernel, LaunchConfig((1, 1, 1), (64, 1, 1)))


def test_too_much_lds_is_hips_error(stream, module):
    with Buffer(256) as out, pytest.raises(HipError):
        config = LaunchConfig((1, 1, 1), (64, 1, 1), 1 << 20)
        launch(stream, module.kernel("dynamic"), config, out)


def test_a_strided_array_is_refused(stream, module):
    from hipgraph_shmem.memory import ArrayView

    with Buffer(96, np.int32) as out:
        strided = ArrayView(out.address, (4, 4), np.dtype(np.int32), (32, 4), 0, out)
        with pytest.raises(ValueError, match=r"argument 0 .*not contiguous"):
            launch(stream, module.kernel("where"), CONFIG, strided, 0)


def test_closed_things_are_refused(stream, device):
    module = Module(compile_hip(KERNELS, device.target.split(":")[0]))
    kernel, config, buffer = module.kernel("small"), LaunchConfig((1, 1, 1)), Buffer(4)
    buffer.close()
    with pytest.raises(ValueError, match="closed"):
        launch(stream, module.kernel("where"), CONFIG, buffer, 0)
    closed = Stream()
    closed.close()
    with pytest.raises(ValueError, match="closed"):
        launch(closed, kernel, config)
    module.close()
    with pytest.raises(ValueError, match="closed"):
        launch(stream, kernel, config)


def test_a_captured_launch_keeps_kernel_and_arguments(stream, module):
    kernel = module.kernel("where")
    with zeros(96, np.int32, stream) as out:
        stream.synchronize()
        with recording(stream.handle) as recorder:
            launch(stream, kernel, CONFIG, out, 1000)
        assert recorder.n_nodes == 1
        assert any(kept is kernel for kept in recorder.kept)
        assert any(kept is out for kept in recorder.kept)
        assert not out.to_numpy(stream).any()
