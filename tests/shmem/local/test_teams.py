"""The local provider: teams."""

import ctypes

from helpers import pes
from helpers.pes import INVALID, MISMATCH, Pe


def facts(pe: Pe, team: int):
    if team == 0:
        return None
    number = ctypes.c_int
    mine, count = (
        pe.out("hgs_team_my_pe", team, kind=number),
        pe.out("hgs_team_n_pes", team, kind=number),
    )
    world = pe.world()
    members = [pe.out("hgs_team_translate_pe", team, i, world, kind=number) for i in range(count)]
    back = [pe.out("hgs_team_translate_pe", world, i, team, kind=number) for i in range(pe.n_pes)]
    assert back == [members.index(i) if i in members else -1 for i in range(pe.n_pes)]
    return mine, members


def split(pe: Pe):
    pe.init()
    world = pe.world()
    assert world == pe.out("hgs_team_shared")
    seen = {"world": facts(pe, world)}
    odd = pe.out("hgs_team_split_strided", world, 1, 2, 2)
    seen["odd"] = facts(pe, odd)
    if odd:
        last = pe.out("hgs_team_split_strided", odd, 1, 1, 1)
        seen["last"] = facts(pe, last)
        # PEs 0 and 2 take no part.
        for _ in range(3):
            pe.ok("hgs_barrier", odd)
            pe.ok("hgs_team_sync", odd)
    x, y = ctypes.c_uint64(), ctypes.c_uint64()
    pe.ok("hgs_team_split_2d", world, 3, ctypes.byref(x), ctypes.byref(y))
    seen["x"], seen["y"] = facts(pe, x.value), facts(pe, y.value)
    pe.ok("hgs_barrier", x.value)
    pe.ok("hgs_barrier", y.value)
    for team in (odd, x.value, y.value):
        if team:
            pe.ok("hgs_team_destroy", team)
            assert pe.code("hgs_barrier", team) == INVALID
    pe.ok("hgs_finalize")
    return seen


def test_strided_and_2d_teams():
    seen = pes.values(pes.run(split, 4))
    assert [each["world"] for each in seen] == [(pe, [0, 1, 2, 3]) for pe in range(4)]
    assert [each["odd"] for each in seen] == [None, (0, [1, 3]), None, (1, [1, 3])]
    assert [each.get("last", "no part") for each in seen] == ["no part", None, "no part", (0, [3])]
    assert [each["x"] for each in seen] == [(pe, [0, 1, 2]) for pe in range(3)] + [(0, [3])]
    assert [each["y"] for each in seen] == [(0, [0, 3]), (0, [1]), (0, [2]), (1, [0, 3])]


def misuse(pe: Pe):
    pe.init()
    world, team = pe.world(), ctypes.c_uint64()
    arguments = [(-1, 1, 1), (0, 0, 1), (0, 1, 3), (1, 1, 2), (0, 1, 0)]
    refused = [
        pe.error("hgs_team_split_strided", world, *map(ctypes.c_int, each), ctypes.byref(team))
        for each in arguments
    ]
    refused += [
        pe.error("hgs_team_split_2d", world, 0, ctypes.byref(team), ctypes.byref(team)),
        pe.error("hgs_team_destroy", world),
        pe.error("hgs_barrier", None),
        pe.error("hgs_team_n_pes", 12345, ctypes.byref(ctypes.c_int())),
        pe.error("hgs_team_translate_pe", world, 2, world, ctypes.byref(ctypes.c_int())),
    ]
    mismatch = pe.error("hgs_team_split_strided", world, pe.pe, 1, 1, ctypes.byref(team))
    pe.ok("hgs_finalize")
    return refused, mismatch


def test_wrong_teams_are_refused():
    for refused, mismatch in pes.values(pes.run(misuse, 2)):
        assert [status for status, _ in refused] == [INVALID] * len(refused)
        words = ["start is -1", "stride is 0", "n_pes is 3", "n_pes is 2", "n_pes is 0"]
        words += ["x_range is 0", "the world, which hgs_finalize ends", "this PE is not in it"]
        words += ["not a team that lives", "pe is 2: pass a PE of the source team"]
        for (_, text), word in zip(refused, words, strict=True):
            assert word in text
        assert mismatch[0] == MISMATCH
        assert "start=0" in mismatch[1]
        assert "start=1" in mismatch[1]


def make_many(pe: Pe):
    pe.init()
    world = pe.world()
    for _ in range(3):
        teams = [pe.out("hgs_team_split_strided", world, 0, 1, 2) for _ in range(63)]
        assert len(set(teams)) == 63
        full = pe.error("hgs_team_split_strided", world, 0, 1, 2, ctypes.byref(ctypes.c_uint64()))
        for team in teams:
            pe.ok("hgs_barrier", team)
            pe.ok("hgs_team_destroy", team)
    pe.ok("hgs_finalize")
    return full


def test_pads_are_used_again():
    for status, text in pes.values(pes.run(make_many, 2)):
        assert status == pes.FAILED
        assert "a PE can be in 64 teams at once" in text
