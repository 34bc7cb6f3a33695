import pytest

from hipgraph_shmem import GraphError, capture
from hipgraph_shmem.shmem import on_stream


def test_bad_splits_are_named(alone):
    world = alone.team_world()
    for start, stride, n_pes in ((0, 1, 2), (-1, 1, 1), (0, 0, 1), (1, 1, 1), (0, 1, 0)):
        with pytest.raises(ValueError, match=f"start={start}, stride={stride}, n_pes={n_pes}"):
            world.split_strided(start, stride, n_pes)
    with pytest.raises(ValueError, match="x_range=2"):
        world.split_2d(2)
    with pytest.raises(ValueError, match="pe=1: the team has 1 PEs"):
        world.translate(1)
    with pytest.raises(ValueError, match="lives until finalize"):
        world.destroy()


def test_a_graph_of_a_destroyed_team_refuses(alone, stream):
    team = alone.team_world().duplicate()
    with capture(stream) as captured:
        on_stream.barrier(stream, team)
    with captured.graph.instantiate() as graph_exec:
        graph_exec.launch(stream)
        stream.synchronize()
        team.destroy()
        with pytest.raises(GraphError, match="Team"):
            graph_exec.launch(stream)
    with pytest.raises(ValueError, match="the team is gone"):
        on_stream.barrier(stream, team)
    with pytest.raises(ValueError, match="the team is gone"):
        team.destroy()


def test_teams_are_made_and_destroyed_without_end(alone):
    for _ in range(200):
        alone.team_world().duplicate().destroy()
