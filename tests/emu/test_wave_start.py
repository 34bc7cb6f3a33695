"""What a kernel finds when it starts, compared with what HIP promises."""

import struct

import numpy as np
import pytest
from helpers import emulated
from helpers.kernels import compile_hip

IDS = """
extern "C" __global__ void ids(unsigned* out, unsigned width) {
  const unsigned x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y();
  const unsigned z = __builtin_amdgcn_workitem_id_z();
  const unsigned bx = __builtin_amdgcn_workgroup_size_x(), by = __builtin_amdgcn_workgroup_size_y();
  const unsigned bz = __builtin_amdgcn_workgroup_size_z();
  const unsigned gx = __builtin_amdgcn_workgroup_id_x(), gy = __builtin_amdgcn_workgroup_id_y();
  const unsigned gz = __builtin_amdgcn_workgroup_id_z();
  const unsigned nx = __builtin_amdgcn_grid_size_x() / bx, ny = __builtin_amdgcn_grid_size_y() / by;
  const unsigned item = (z * by + y) * bx + x, group = (gz * ny + gy) * nx + gx;
  unsigned* o = out + (group * bx * by * bz + item) * width;
  o[0] = x; o[1] = y; o[2] = z; o[3] = gx; o[4] = gy; o[5] = gz; o[6] = bx * 10000 + by * 100 + bz;
}
"""

HIDDEN = """
#define AS4 __attribute__((address_space(4)))
extern "C" __global__ void hidden(unsigned* out) {
  extern __attribute__((shared)) unsigned dynamic[];
  const char AS4* p = (const char AS4*)__builtin_amdgcn_implicitarg_ptr();
  if (__builtin_amdgcn_workitem_id_x() != 0) return;
  for (int i = 0; i < 3; ++i) out[i] = *(const unsigned AS4*)(p + 4 * i);
  for (int i = 0; i < 6; ++i) out[3 + i] = *(const unsigned short AS4*)(p + 12 + 2 * i);
  for (int i = 0; i < 3; ++i) out[9 + i] = (unsigned)*(const unsigned long AS4*)(p + 40 + 8 * i);
  out[12] = *(const unsigned short AS4*)(p + 64);
  out[13] = *(const unsigned AS4*)(p + 120);
  dynamic[0] = 1;
}
"""


@pytest.mark.parametrize("version", [4, 5, 6])
@pytest.mark.parametrize(("grid", "block"), [((3, 2, 2), (5, 3, 7)), ((4,), (100,)), ((1,), (64,))])
def test_ids_are_those_of_the_grid(version, grid, block):
    kernel = emulated.function(emulated.load(compile_hip(IDS, version=version)), "ids")
    (gx, gy, gz), (bx, by, bz) = ((*extent, 1, 1)[:3] for extent in (grid, block))
    items = gx * gy * gz * bx * by * bz
    out = emulated.malloc(items * 28)
    emulated.launch(kernel, grid, block, struct.pack("<QI", out, 7))
    assert emulated.synchronize() == 0
    group_z, group_y, group_x, z, y, x = np.indices((gz, gy, gx, bz, by, bx)).reshape(6, -1)
    sizes = np.full(items, bx * 10000 + by * 100 + bz)
    expected = np.stack([x, y, z, group_x, group_y, group_z, sizes], axis=1)
    assert np.array_equal(emulated.download(out, items * 7).reshape(-1, 7), expected)
    emulated.free(out)


def test_hidden_arguments():
    kernel = emulated.function(emulated.load(compile_hip(HIDDEN)), "hidden")
    out = emulated.malloc(56)
    emulated.launch(kernel, (3, 2, 4), (16, 4, 2), emulated.words(out), lds=768)
    assert emulated.synchronize() == 0
    expected = [3, 2, 4, 16, 4, 2, 0, 0, 0, 0, 0, 0, 3, 768]
    assert list(emulated.download(out, 14)) == expected
    emulated.free(out)
