"""Finding and loading the library, in processes of their own: one process loads one library."""

import shutil

import pytest
from helpers.process import run_python

from hipgraph_shmem.hip_library import FILE_NAME
from hipgraph_shmem.runtime import library

LOAD = """
from hipgraph_shmem.runtime import call, library
from hipgraph_shmem.hip_library import mapped_libraries
from hipgraph_shmem.errors import RuntimeLibraryError
try:
    loaded = library()
except RuntimeLibraryError as error:
    print("refused", error.choice, error.tried)
else:
    call("hipRuntimeGetVersion")
    assert mapped_libraries() <= {loaded.path}, mapped_libraries()
    print(loaded.path)
"""


@pytest.fixture(scope="module")
def library_folder(device):
    return library().path.parent


def copy_of(folder, to, name=FILE_NAME):
    """Copy the session's library, under another file name."""
    target = to / "lib"
    shutil.copytree(folder, target)
    if name != FILE_NAME:
        target.joinpath(FILE_NAME).rename(target / name)
    return target / name


def load(before="", **variables):
    done = run_python(before + LOAD, **{"LD_LIBRARY_PATH": "", **variables})
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_path_is_taken_as_it_is(library_folder, tmp_path):
    path = copy_of(library_folder, tmp_path)
    assert load(HIPGRAPH_RUNTIME=str(path)) == str(path.resolve())


def test_any_file_name_serves_hip_python_too(library_folder, tmp_path):
    path = copy_of(library_folder, tmp_path, "libother.so")
    assert load(HIPGRAPH_RUNTIME=str(path)) == str(path.resolve())


@pytest.mark.parametrize("name", [FILE_NAME, f"{FILE_NAME}.7", f"{FILE_NAME}.6"])
def test_rocm_is_found_by_versioned_names_too(library_folder, tmp_path, name):
    path = copy_of(library_folder, tmp_path, name)
    found = load(HIPGRAPH_RUNTIME="rocm", ROCM_PATH=str(tmp_path))
    assert found == str(path.resolve())


def test_what_cannot_be_had_lists_what_was_tried(tmp_path):
    missing = tmp_path / "lib" / "libnone.so"
    found = load(HIPGRAPH_RUNTIME=str(missing))
    assert found.startswith("refused")
    assert str(missing) in found


def test_an_unknown_word_is_refused():
    assert load(HIPGRAPH_RUNTIME="rocn").startswith("refused rocn")


def test_a_library_that_is_not_hip_is_refused(tmp_path):
    import ctypes.util

    other = ctypes.util.find_library("z") or "libz.so.1"
    path = tmp_path / "libz.so"
    path.symlink_to(
        next(
            p
            for p in ("/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib")
            if shutil.os.path.exists(f"{p}/{other}")
        )
        + f"/{other}"
    )
    assert load(HIPGRAPH_RUNTIME=str(path)).startswith("refused")


def test_a_second_library_is_refused(library_folder, tmp_path):
    first, second = (copy_of(library_folder, tmp_path / name) for name in "ab")
    found = load(f"import ctypes; ctypes.CDLL({str(first)!r})\n", HIPGRAPH_RUNTIME=str(second))
    assert found.startswith("refused")
    assert str(first) in found


def test_a_loaded_library_is_taken_as_rocm(library_folder, tmp_path):
    first = copy_of(library_folder, tmp_path / "a", f"{FILE_NAME}.7")
    copy_of(library_folder, tmp_path / "b")
    before = f"import ctypes; ctypes.CDLL({str(first)!r})\n"
    found = load(before, HIPGRAPH_RUNTIME="rocm", ROCM_PATH=str(tmp_path / "b"))
    assert found == str(first)


def test_hip_python_that_was_used_before_with_another_library_is_refused(library_folder, tmp_path):
    first, second = (copy_of(library_folder, tmp_path / name) for name in "ab")
    found = load(
        "from hip import hip; hip.hipRuntimeGetVersion()\n",
        HIPGRAPH_RUNTIME=str(second),
        LD_LIBRARY_PATH=str(first.parent),
        ROCM_PATH=str(tmp_path / "a"),
    )
    assert found.startswith("refused")
    assert str(first) in found


def test_auto_says_what_it_took_or_tried():
    done = run_python(
        "import warnings; warnings.simplefilter('always')\n" + LOAD,
        HIPGRAPH_RUNTIME="auto",
        LD_LIBRARY_PATH="",
    )
    assert done.returncode == 0, done.stderr
    if done.stdout.startswith("refused"):  # sources whose library is not built
        assert done.stdout.startswith("refused auto (('rocm', ")
    elif "/lib/emu/" in done.stdout:
        assert "RuntimeWarning" in done.stderr
        assert "emulated device" in done.stderr
