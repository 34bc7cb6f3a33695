import tempfile
import threading
import time

import pytest

from hipgraph_shmem.env import Launched
from hipgraph_shmem.errors import ShmemTimeoutError
from hipgraph_shmem.shmem.rendezvous import Rendezvous, file_of

ID = bytes(range(128))
PLACE = Launched("torchrun", 1, 4, 1, 4, "torchrun-none-29500-17")


def test_readers_wait_for_the_id(tmp_path):
    path = tmp_path / "id"
    writer = threading.Timer(0.2, Rendezvous(path, 5).publish, (ID,))
    writer.start()
    assert Rendezvous(path, 5).read() == ID
    writer.join()
    Rendezvous(path, 5).withdraw()
    assert list(tmp_path.iterdir()) == []


def test_half_an_id_is_none(tmp_path):
    path = tmp_path / "id"
    path.write_bytes(ID[:100])
    began = time.monotonic()
    with pytest.raises(ShmemTimeoutError, match=r"PE 0 did not write .*within 0.2 s"):
        Rendezvous(path, 0.2).read()
    assert time.monotonic() - began < 2


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ValueError, match="no folder"):
        Rendezvous(tmp_path / "none" / "id", 1)


def test_each_init_of_each_launch_has_a_file_of_its_own(tmp_path):
    other = Launched("torchrun", 1, 4, 1, 4, "torchrun-none-29501-17")
    files = {file_of(place, None, n) for place in (PLACE, other) for n in (0, 1)}
    files |= {file_of(PLACE, tmp_path / "id", n) for n in (0, 1)}
    assert len(files) == 6
    assert file_of(PLACE, None, 0) == file_of(Launched("torchrun", 2, 4, 2, 4, PLACE.job), None, 0)


def test_a_folder_that_others_can_write_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = file_of(PLACE, None, 0).parent
    assert folder.parent == tmp_path
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o770)
    with pytest.raises(ValueError, match="not a folder of this user's alone"):
        file_of(PLACE, None, 0)
    folder.rmdir()
    folder.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    with pytest.raises(ValueError, match="not a folder of this user's alone"):
        file_of(PLACE, None, 0)
