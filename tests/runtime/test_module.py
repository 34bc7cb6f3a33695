import gc
import weakref

import numpy as np
import pytest
from helpers import bundles
from helpers.captures import recording, replayed
from helpers.kernels import arguments_code_object, assemble, compile_hip
from helpers.process import on_this_library, run_python

from hipgraph_shmem.code_object import CodeObject
from hipgraph_shmem.errors import CodeObjectError, HipError
from hipgraph_shmem.launch import LaunchConfig, launch
from hipgraph_shmem.memory import Buffer, zeros
from hipgraph_shmem.module import Kernel, Module, _check_version
from hipgraph_shmem.runtime import call

SOURCE = """
extern "C" __device__ int number;
extern "C" __device__ float table[4];
__device__ int number = 41;
__device__ float table[4] = {1, 2, 3, 4};
extern "C" __global__ void read(int* out) { out[0] = number + (int)table[3]; }
"""


@pytest.fixture
def processor(device):
    return device.target.split(":")[0]


@pytest.fixture
def module(processor):
    with Module(compile_hip(SOURCE, processor)) as loaded:
        yield loaded


def run(stream, module):
    with zeros(1, np.int32, stream) as out:
        launch(stream, module.kernel("read"), LaunchConfig((1, 1, 1), (1, 1, 1)), out)
        return int(out.to_numpy(stream)[0])


def test_a_kernel_runs_with_the_variables_of_its_module(stream, module):
    assert run(stream, module) == 45
    assert list(module.kernels) == ["read"]


def test_modules_are_loaded_from_path_bytes_and_bundle(stream, processor, tmp_path):
    image = compile_hip(SOURCE, processor)
    tmp_path.joinpath("k.co").write_bytes(image)
    other = assemble("gfx1100")
    bundle = bundles.plain(
        ("host-x86_64-unknown-linux-gnu-", b""),
        ("hipv4-amdgcn-amd-amdhsa--gfx1100", other),
        (f"hipv4-amdgcn-amd-amdhsa--{processor}", image),
    )
    for source in (image, tmp_path / "k.co", str(tmp_path / "k.co"), bundle,
                   bundles.compressed(bundle, 3)):  # fmt: skip
        with Module(source) as loaded:
            assert run(stream, loaded) == 45


@pytest.mark.parametrize("version", [4, 5, 6])
def test_code_object_versions(stream, processor, version):
    with Module(compile_hip(SOURCE, processor, version=version)) as loaded:
        assert loaded.code_object.version == version
        assert run(stream, loaded) == 45


@pytest.mark.usefixtures("emulated")
def test_loading_in_a_capture_is_portable():
    """HIP allows it in any mode, CUDA in relaxed mode only: a module is loaded in that."""
    done = run_python(
        f"""
        from helpers.kernels import compile_hip
        from hipgraph_shmem import Module, Stream, capture
        image = compile_hip({SOURCE!r})
        with Stream() as stream, capture(stream) as captured:
            Module(image)
        assert captured.graph.nodes == ()
        """,
        **on_this_library(),
        HIPGRAPH_EMU_DIVERGENCE="error",
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_code_object_newer_than_the_runtime_is_named(processor):
    version_6 = CodeObject(compile_hip(SOURCE, processor), "new.co")
    with pytest.raises(CodeObjectError) as caught:
        _check_version(version_6, 6_02_41134)
    assert "HIP 6.2 takes up to 5" in caught.value.problem
    assert "-mcode-object-version=5" in caught.value.cure
    _check_version(version_6, 6_03_42131)
    _check_version(CodeObject(compile_hip(SOURCE, processor, version=5)), 6_02_41134)


def test_another_target_is_refused_before_hip(device):
    with pytest.raises(CodeObjectError) as caught:
        Module(assemble("gfx1100"))
    assert "gfx1100" in caught.value.problem
    assert device.target in caught.value.problem


@pytest.mark.parametrize("image", [b"", b"text", assemble("gfx942")[:500]])
def test_what_cannot_be_loaded_is_refused(device, image):
    with pytest.raises(CodeObjectError):
        Module(image)


def test_a_missing_file_is_named(device, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.co"):
        Module(tmp_path / "none.co")


def test_an_unknown_name_lists_the_known(module):
    with pytest.raises(ValueError, match=r"kernel='raed'.*read"):
        module.kernel("raed")
    with pytest.raises(ValueError, match=r"symbol='numbre'.*number"):
        module.symbol("numbre")


def test_a_kernel_keeps_its_module(stream, processor):
    kernel = Module(compile_hip(SOURCE, processor)).kernel("read")
    gone = weakref.ref(kernel.module)
    gc.collect()
    assert gone() is not None
    assert "read" in repr(kernel)
    with zeros(1, np.int32, stream) as out:
        launch(stream, kernel, LaunchConfig((1, 1, 1), (1, 1, 1)), out)
        assert out.to_numpy(stream).tolist() == [45]
    del kernel
    gc.collect()
    assert gone() is None


def test_a_symbol_keeps_its_module(processor):
    module = Module(compile_hip(SOURCE, processor))
    symbol = module.symbol(next(iter(module.code_object.variables)))
    gone = weakref.ref(module)
    del module
    gc.collect()
    assert gone() is not None
    assert symbol.address
    del symbol
    gc.collect()
    assert gone() is None


def test_kernels_and_symbols_of_a_closed_module_are_refused(stream, processor):
    module = Module(compile_hip(SOURCE, processor))
    kernel, symbol = module.kernel("read"), module.symbol("number")
    module.close()
    assert kernel.closed
    assert symbol.closed
    for use in (lambda: kernel.handle, lambda: symbol.address, lambda: symbol.to_numpy(stream)):
        with pytest.raises(ValueError, match="closed"):
            use()


def test_equal_kernels(module):
    assert module.kernel("read") == module.kernel("read")
    assert hash(module.kernel("read")) == hash(module.kernel("read"))
    assert module.kernel("read") != module
    assert isinstance(module.kernel("read"), Kernel)


def test_symbols_have_address_and_size(stream, module):
    number, table = module.symbol("number"), module.symbol("table")
    assert (number.nbytes, table.nbytes) == (4, 16)
    assert table.to_numpy(stream).view(np.float32).tolist() == [1, 2, 3, 4]
    assert "table" in repr(table)


def test_a_symbol_is_written_in_stream_order(stream, module):
    number = module.symbol("number")
    number.copy_from(np.array([100], np.int32), stream)
    assert run(stream, module) == 104
    number.fill(0, stream)
    assert run(stream, module) == 4
    back = bytearray(4)
    number.copy_to(back, stream)
    assert back == bytes(4)


def test_a_captured_symbol_copy_is_one_node_and_keeps_the_bytes(stream, module):
    number = module.symbol("number")
    with recording(stream.handle) as recorder:
        number.copy_from(np.array([7], np.int32), stream)
    assert recorder.n_nodes == 1
    assert any(kept is number for kept in recorder.kept)
    with replayed(stream.handle):
        number.copy_from(np.array([7], np.int32), stream)
    assert run(stream, module) == 11


def test_hips_own_symbol_copies_would_lose_the_capture(stream, module):
    """The blocking copy that others use for module variables: 906, and the capture is gone."""
    import ctypes

    from hipgraph_shmem.runtime import library

    number = module.symbol("number")
    raw = call("hipStreamBeginCapture", stream.handle, 1)
    assert raw is None
    host = ctypes.c_int(5)
    copy = library().pointers.hipMemcpy
    code = copy(ctypes.c_void_p(number.address), ctypes.byref(host), ctypes.c_size_t(4), 1)
    assert code == 906
    with pytest.raises(HipError) as caught:
        call("hipStreamEndCapture", stream.handle)
    assert caught.value.code == 901
    stream.synchronize()


def test_module_memory_comes_back(device, processor):
    image = compile_hip(SOURCE, processor)
    Module(image).close()
    free = call("hipMemGetInfo")[0]
    for _ in range(100):
        Module(image).close()
    assert call("hipMemGetInfo")[0] == free


def test_metadata_reach_the_kernel(processor, device):
    with Module(arguments_code_object(processor)) as loaded, Buffer(4):
        kernel = loaded.kernel("mixed")
        assert kernel.name == "mixed"
        assert kernel.metadata.kernarg_bytes == kernel.size.value
