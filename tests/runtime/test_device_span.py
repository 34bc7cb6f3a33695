"""Copies and fills of device memory; NumPy is the oracle."""

import gc
import threading
import weakref

import ml_dtypes
import numpy as np
import pytest
from helpers.captures import recording, replayed
from helpers.process import run_python

from hipgraph_shmem.errors import CaptureError
from hipgraph_shmem.memory import ArrayView, Buffer, PinnedBuffer, as_array_view, from_numpy, zeros
from hipgraph_shmem.runtime import call

DTYPES = [np.uint8, np.int16, np.float16, ml_dtypes.bfloat16, np.float32, np.int64, np.complex64]


def values(dtype, shape=(3, 5)):
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_host_device_host(stream, dtype):
    array = values(dtype)
    with Buffer(array.shape, dtype) as buffer:
        buffer.copy_from(array, stream)
        back = buffer.to_numpy(stream)
    assert back.dtype == array.dtype
    assert back.tobytes() == array.tobytes()


def test_the_source_may_change_as_soon_as_copy_from_returns(stream):
    array = values(np.float32, (1 << 18,))
    expected = array.copy()
    with Buffer(array.shape, np.float32) as buffer:
        buffer.copy_from(array, stream)
        array[:] = -1
        assert (buffer.to_numpy(stream) == expected).all()


def test_copying_a_host_array_ends_after_the_work_before_it(stream, gate):
    """Whether HIP itself waits depends on the release and on the size."""
    hold, flag = gate
    with Buffer(8) as buffer:
        hold(stream)
        copying = threading.Thread(target=buffer.copy_from, args=(bytes(8), stream))
        copying.start()
        copying.join(0.1)
        waited = copying.is_alive()
        flag.array[0] = 1
        copying.join()
        assert waited


def test_device_to_device(stream):
    array = values(np.int64)
    with from_numpy(array, stream) as source, Buffer(array.shape, np.int64) as target:
        target.copy_from(source, stream)
        assert (target.to_numpy(stream) == array).all()
        with zeros(array.shape, np.int64, stream) as other:
            target.copy_to(other, stream)
            assert (other.to_numpy(stream) == array).all()
            target.fill(0, stream)
            other.copy_to(target.view(), stream)
            assert (target.to_numpy(stream) == array).all()


def test_pinned_memory_both_ways(stream):
    array = values(np.float32)
    with PinnedBuffer(array.shape, np.float32) as pinned, Buffer(array.shape, np.float32) as buffer:
        pinned.array[:] = array
        buffer.copy_from(pinned, stream)
        stream.synchronize()
        pinned.array[:] = 0
        buffer.copy_to(pinned, stream)
        stream.synchronize()
        assert (pinned.array == array).all()


def test_bytes_fit_any_buffer_of_their_size(stream):
    with Buffer((2, 2), np.uint16) as buffer:
        buffer.copy_from(b"\1\2\3\4\5\6\7\10", stream)
        assert buffer.to_numpy(stream).tobytes() == b"\1\2\3\4\5\6\7\10"
        back = bytearray(8)
        buffer.copy_to(back, stream)
        assert back == b"\1\2\3\4\5\6\7\10"


def test_a_byte_buffer_takes_any_array_of_its_size(stream):
    array = values(np.float32)
    with Buffer(array.nbytes) as buffer:
        buffer.copy_from(array, stream)
        assert buffer.to_numpy(stream).tobytes() == array.tobytes()


@pytest.mark.parametrize(
    "width, value, dtype",
    [
        (1, 0xA5, np.uint8),
        (1, -1, np.int8),
        (2, 0x1234, np.uint16),
        (2, -2, np.int16),
        (4, 0x3F803F80, np.uint32),
        (4, 0xFFFFFFFF, np.uint32),
        (4, -(2**31), np.int32),
    ],
)
def test_fill(stream, width, value, dtype):
    with Buffer(24) as buffer:
        buffer.fill(value, stream, width=width)
        found = buffer.to_numpy(stream).view(dtype)
    assert (found == np.array(value, dtype=dtype)).all()


@pytest.mark.parametrize("width, value", [(3, 0), (8, 0), (4, 2**32), (1, -129), (2, 65536)])
def test_a_fill_that_does_not_fit_is_refused(stream, width, value):
    with Buffer(24) as buffer, pytest.raises(ValueError, match=r"width|value"):
        buffer.fill(value, stream, width=width)


def test_a_width_that_does_not_divide_is_refused(stream):
    with Buffer(6) as buffer, pytest.raises(ValueError, match="width=4"):
        buffer.fill(0, stream, width=4)


def test_nothing_is_copied_for_no_bytes(stream):
    with Buffer((0, 4), np.float32) as buffer:
        assert buffer.address == 0
        with recording(stream.handle) as recorder:
            buffer.fill(0, stream)
            buffer.copy_from(np.empty((0, 4), np.float32), stream)
            buffer.copy_to(np.empty((0, 4), np.float32), stream)
        assert recorder.n_nodes == 0
        assert buffer.to_numpy(stream).shape == (0, 4)


def test_misfits_are_refused_by_name(stream):
    with Buffer((3, 5), np.float32) as buffer:
        for source, words in [
            (values(np.float64), "float64"),
            (values(np.float32, (5, 3)), r"\(5, 3\)"),
            (values(np.float32)[:, ::-1], "ascontiguousarray"),
            (bytes(59), "59 bytes"),
        ]:
            with pytest.raises(ValueError, match=words):
                buffer.copy_from(source, stream)
        readonly = values(np.float32)
        readonly.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            buffer.copy_to(readonly, stream)
        for wrong in (3, None, "text", [1.0] * 15):
            with pytest.raises(TypeError):
                buffer.copy_from(wrong, stream)
        with pytest.raises(TypeError, match="stream"):
            buffer.fill(0, None)


def test_a_closed_buffer_is_refused(stream):
    buffer = Buffer(4)
    buffer.close()
    for use in (
        lambda: buffer.fill(0, stream),
        lambda: buffer.to_numpy(stream),
        lambda: as_array_view(buffer),
        lambda: buffer.copy_from(bytes(4), stream),
    ):
        with pytest.raises(ValueError, match="closed"):
            use()


SECOND_DEVICE = """
import numpy as np
from hipgraph_shmem.memory import Buffer, from_numpy
from hipgraph_shmem.runtime import call
from hipgraph_shmem.stream import Stream

array = np.arange(15, dtype=np.int32).reshape(3, 5)
with Stream(1) as other, from_numpy(array, other) as buffer, Buffer(4, device=0) as first:
    assert (other.device, buffer.device, first.device) == (1, 1, 0)
    assert (buffer.to_numpy(other) == array).all()
    for use in (lambda: first.fill(0, other), lambda: first.to_numpy(other)):
        try:
            use()
        except ValueError as error:
            print(error)
assert call("hipGetDevice") == 0
"""


def test_memory_and_streams_of_a_second_device(emulated):
    done = run_python(SECOND_DEVICE, HIPGRAPH_EMU_DEVICES="2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("is of device 1, the memory of 0") == 2


def test_a_captured_copy_is_one_node_of_the_bytes_at_capture(stream):
    with zeros(4, np.int32, stream) as buffer:
        source = np.array([1, 2, 3, 4], np.int32)
        with replayed(stream.handle) as recorder:
            buffer.copy_from(source, stream)
            source[:] = -1
        assert any(isinstance(kept, np.ndarray) for kept in recorder.kept)
        assert buffer in recorder.kept
        assert buffer.to_numpy(stream).tolist() == [1, 2, 3, 4]


def test_a_live_copy_reads_at_each_replay(stream):
    with zeros(4, np.int32, stream) as buffer:
        source = np.array([1, 2, 3, 4], np.int32)
        with replayed(stream.handle) as recorder:
            buffer.copy_from(source, stream, live=True)
            source[:] = 9
        assert any(kept is source for kept in recorder.kept)
        assert buffer.to_numpy(stream).tolist() == [9] * 4


def test_a_temporary_is_kept_for_the_replay(stream):
    with zeros(1 << 16, np.int32, stream) as buffer:
        with replayed(stream.handle):
            buffer.copy_from(np.arange(1 << 16, dtype=np.int32) * 3, stream)
            gc.collect()
            spoilers = [np.full(1 << 16, -1, np.int32) for _ in range(8)]
        assert (buffer.to_numpy(stream) == np.arange(1 << 16) * 3).all()
        del spoilers


def test_a_captured_copy_to_the_host_writes_at_replay(stream):
    out = np.zeros(4, np.int32)
    with zeros(4, np.int32, stream) as buffer:
        with replayed(stream.handle):
            buffer.fill(5, stream, width=4)
            buffer.copy_to(out, stream)
            assert out.tolist() == [0] * 4
        assert out.tolist() == [5] * 4


def is_array(kept):
    return isinstance(kept, np.ndarray)


def test_a_captured_fill_and_copy_keep_their_buffers(stream):
    host = np.zeros(8, np.uint8)
    with Buffer(8) as filled, Buffer(8) as target, PinnedBuffer(8) as pinned, Buffer(8) as source:
        with recording(stream.handle) as recorder:
            filled.fill(1, stream)
            target.copy_from(pinned, stream)
            target.copy_from(source, stream)
            target.copy_to(host, stream)
        assert recorder.n_nodes == 4
        for memory in (filled, target, pinned, source):
            assert any(kept is memory for kept in recorder.kept)
        assert any(np.shares_memory(kept, host) for kept in recorder.kept if is_array(kept))


def test_reading_back_under_capture_is_refused(stream):
    with zeros(4, np.int32, stream) as buffer:
        with recording(stream.handle) as recorder:
            buffer.fill(1, stream)
            with pytest.raises(CaptureError) as caught:
                buffer.to_numpy(stream)
            assert "copy_to" in caught.value.cure
        assert recorder.n_nodes == 1


def test_a_view_keeps_its_buffer(stream):
    buffer = from_numpy(np.arange(4, dtype=np.int32), stream)
    view = as_array_view(buffer)
    gone = weakref.ref(buffer)
    del buffer
    gc.collect()
    assert gone() is not None
    with Buffer(4, np.int32) as target:
        target.copy_from(view, stream)
        assert target.to_numpy(stream).tolist() == [0, 1, 2, 3]
    del view
    gc.collect()
    assert gone() is None


def test_a_strided_or_readonly_view_is_refused(stream):
    with Buffer(16, np.int32) as buffer, Buffer((2, 2), np.int32) as target:
        strided = ArrayView(buffer.address, (2, 2), np.dtype(np.int32), (16, 4), 0, buffer)
        with pytest.raises(ValueError, match="C-contiguous"):
            target.copy_from(strided, stream)
        readonly = ArrayView(buffer.address, (2, 2), np.dtype(np.int32), None, 0, buffer, True)
        with pytest.raises(ValueError, match="read-only"):
            target.copy_to(readonly, stream)


def test_raw_stream_handles_work_everywhere(stream):
    with Buffer(4) as buffer:
        buffer.fill(3, stream.handle)
        assert buffer.to_numpy(stream.handle).tolist() == [3] * 4
        buffer.fill(4, 0)
        call("hipDeviceSynchronize")
        assert buffer.to_numpy(0).tolist() == [4] * 4
