"""HIP C++ programs, compiled without ROCm, run unmodified: launches, variables, start and end."""

from __future__ import annotations

import pytest
from helpers.hip_programs import run_program


@pytest.mark.parametrize("target", ["gfx942", "gfx90a"])
def test_launches_by_host_function(target):
    done = run_program("launch", target, HIPGRAPH_EMU_TARGET=target, HIPGRAPH_EMU_CUS="304")
    assert (done.returncode, done.stdout) == (0, "passed\n"), done.stderr


def test_variables_of_two_devices():
    done = run_program("variables", HIPGRAPH_EMU_DEVICES="2")
    assert (done.returncode, done.stdout) == (0, "passed\n"), done.stderr


def test_static_constructors_and_destructors_use_the_device():
    done = run_program("two_units")
    assert (done.returncode, done.stdout) == (0, "passed\nlast 47\n"), done.stderr


def test_code_for_another_target_is_refused_when_it_is_used():
    done = run_program("wrong_target", "gfx90a", HIPGRAPH_EMU_TARGET="gfx942")
    assert (done.returncode, done.stdout) == (0, "passed\n"), done.stderr


def test_a_program_without_a_usable_device_starts_and_says_so():
    done = run_program("wrong_target", "gfx90a", HIPGRAPH_EMU_TARGET="gfx1100")
    assert done.returncode == 1
    assert done.stdout.startswith("line 8: ")
    assert "HIPGRAPH_EMU_TARGET" in done.stderr


def test_a_program_ends_with_work_and_a_capture_in_flight():
    done = run_program("in_flight")
    assert (done.returncode, done.stdout) == (0, "passed\nend 0\n"), done.stderr
