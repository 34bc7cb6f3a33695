"""Two graphs in two streams at once, each with a team of its own to meet at."""

import numpy as np

from hipgraph_shmem import Stream, capture, shmem
from hipgraph_shmem.shmem import Reduction, on_stream

REPLAYS = 10
WORDS = 500


def main():
    shmem.init()
    streams = [Stream(), Stream()]
    teams = [shmem.team_world().duplicate(), shmem.team_world().duplicate()]
    sums = [shmem.zeros(WORDS, np.int64), shmem.zeros(WORDS, np.int64)]
    execs = []
    for stream, team, total in zip(streams, teams, sums, strict=True):
        with capture(stream) as captured:
            on_stream.reduce(total, total, Reduction.SUM, stream, team)
        execs.append(captured.graph.instantiate())
    for step in range(REPLAYS):
        replay(step, streams, sums, execs)
    for item in (*execs, *streams):
        item.close()
    for team in teams:
        team.destroy()
    for total in sums:
        total.free()
    assert not shmem.finalize(strict=True)


def replay(step, streams, sums, execs):
    pe, n_pes = shmem.my_pe(), shmem.n_pes()
    for index, (stream, total) in enumerate(zip(streams, sums, strict=True)):
        total.copy_from(np.full(WORDS, pe + step + 100 * index), stream)
    # Different orders on different PEs: with one meeting place they would mix.
    order = (0, 1) if (pe + step) % 2 else (1, 0)
    for index in order:
        execs[index].launch(streams[index])
    for index, (stream, total) in enumerate(zip(streams, sums, strict=True)):
        expected = sum(other + step + 100 * index for other in range(n_pes))
        assert np.all(total.to_numpy(stream) == expected)


main()
