import pytest

from hipgraph_shmem import env


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch):
    for variable in env.VARIABLES:
        monkeypatch.delenv(f"HIPGRAPH_{variable.name}", raising=False)


def test_defaults_are_those_of_the_table():
    settings = env.settings()
    assert settings.runtime == "auto"
    assert settings.emu_target == "gfx942:sramecc+:xnack-"
    assert (settings.emu_cus, settings.emu_seed, settings.emu_devices) == (None, 0, 1)
    assert settings.aiter_dir is None


@pytest.mark.parametrize(
    "name, text, field, value",
    [
        ("RUNTIME", "rocm", "runtime", "rocm"),
        ("EMU_CUS", "8", "emu_cus", 8),
        ("EMU_SEED", "0x10", "emu_seed", 16),
        ("EMU_DEVICES", "2", "emu_devices", 2),
        ("EMU_CHECK", "race", "emu_check", "race"),
        ("EMU_SEED", "", "emu_seed", 0),
    ],
)
def test_a_variable_reaches_its_field(monkeypatch, name, text, field, value):
    monkeypatch.setenv(f"HIPGRAPH_{name}", text)
    assert getattr(env.settings(), field) == value


@pytest.mark.parametrize(
    "name, text",
    [
        ("EMU_CUS", "0"),
        ("EMU_CUS", "many"),
        ("EMU_SEED", "-1"),
        ("EMU_DEVICES", "17"),
        ("EMU_CHECK", "all"),
        ("HOST_COMPILER", "gcc"),
    ],
)
def test_a_bad_value_is_refused_by_name(monkeypatch, name, text):
    monkeypatch.setenv(f"HIPGRAPH_{name}", text)
    with pytest.raises(ValueError, match=f"HIPGRAPH_{name}='{text}'"):
        env.settings()


def test_an_unknown_variable_is_refused_with_the_nearest_name(monkeypatch):
    monkeypatch.setenv("HIPGRAPH_RUNTIM", "emu")
    with pytest.raises(ValueError, match="did you mean HIPGRAPH_RUNTIME"):
        env.settings()


def test_rocm_roots_come_from_the_environment_first(monkeypatch):
    monkeypatch.setenv("ROCM_PATH", "/some/rocm")
    monkeypatch.setenv("ROCM_HOME", "/opt/rocm")
    assert [str(root) for root in env.rocm_roots()] == ["/some/rocm", "/opt/rocm"]
