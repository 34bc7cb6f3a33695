"""What each public operation of graphs and execs may do while a stream captures: anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from helpers.public_calls import Allowed, Call

from hipgraph_shmem.graph import Graph, GraphExec
from hipgraph_shmem.graph.recording import Recording
from hipgraph_shmem.launch import LaunchConfig, pack
from hipgraph_shmem.runtime import call

ALWAYS, BY_MODE, NEVER = Allowed.ALWAYS, Allowed.BY_MODE, Allowed.NEVER
ONE = LaunchConfig((1, 1, 1))


def on_nodes(work: Callable[[Any, Any], Any]) -> Call:
    """Work on `use` and the nodes of its graph, of one node of each kind that can be edited."""
    return Call(ALWAYS, lambda use: work(use, use.nodes))


def editing(name: str) -> dict[str, Call]:
    """Rows for what a Graph and a GraphExec have in common."""
    of = lambda use: getattr(use, name.lower())  # noqa: E731
    return {
        f"{name}.set_event": on_nodes(lambda use, at: of(use).set_event(at.event, use.later)),
        f"{name}.set_host": on_nodes(lambda use, at: of(use).set_host(at.host, int)),
        f"{name}.set_kernel": on_nodes(
            lambda use, at: of(use).set_kernel(at.kernel, use.kernel, ONE, use.buffer)
        ),
        f"{name}.set_memcpy": on_nodes(
            lambda use, at: of(use).set_memcpy(at.memcpy, use.buffer, bytes(16))
        ),
        f"{name}.set_memset": on_nodes(
            lambda use, at: of(use).set_memset(at.memset, use.buffer, 1, 16)
        ),
    }


def packed(use: Any) -> None:
    blob = pack(use.kernel.metadata, (use.buffer,))
    use.graph.add_packed_kernel(use.kernel, ONE, blob, use.buffer)


def edges(use: Any, at: Any) -> None:
    use.graph.add_dependencies([at.memset], [at.kernel])
    use.graph.remove_dependencies([at.memset], [at.kernel])


def memory(use: Any) -> None:
    with Graph() as graph:
        node = graph.add_alloc(64)
        graph.add_free(node, dependencies=[node])


def instantiate(use: Any) -> int:
    raw: int = call("hipGraphInstantiateWithFlags", use.graph.handle, 0)
    return raw


GRAPH = {
    "Graph.__init__": Call(ALWAYS, lambda _: Graph().close()),
    "Graph.adopt": Call(
        ALWAYS, lambda _: Graph.adopt(call("hipGraphCreate", 0), Recording(), 0).close()
    ),
    "Graph.borrow": Call(ALWAYS, lambda use: Graph.borrow(use.graph.handle).nodes),
    "Graph.close": Call(ALWAYS, lambda use: use.graph.clone().close()),
    "Graph.add_alloc": Call(ALWAYS, memory),
    "Graph.add_child": Call(ALWAYS, lambda use: use.graph.add_child(use.other)),
    "Graph.add_dependencies": on_nodes(edges),
    "Graph.add_empty": Call(ALWAYS, lambda use: use.graph.add_empty()),
    "Graph.add_event_record": Call(ALWAYS, lambda use: use.graph.add_event_record(use.event)),
    "Graph.add_event_wait": Call(ALWAYS, lambda use: use.graph.add_event_wait(use.event)),
    "Graph.add_free": Call(ALWAYS, memory),
    "Graph.add_host": Call(ALWAYS, lambda use: use.graph.add_host(int)),
    "Graph.add_kernel": Call(ALWAYS, lambda use: use.graph.add_kernel(use.kernel, ONE, use.buffer)),
    "Graph.add_memcpy": Call(ALWAYS, lambda use: use.graph.add_memcpy(use.buffer, bytes(16))),
    "Graph.add_memset": Call(ALWAYS, lambda use: use.graph.add_memset(use.buffer, 0, 16)),
    "Graph.add_packed_kernel": Call(ALWAYS, packed),
    "Graph.check": Call(ALWAYS, lambda use: use.graph.check()),
    "Graph.clone": Call(ALWAYS, lambda use: use.graph.clone().close()),
    "Graph.complete": Call(ALWAYS, lambda use: use.graph.complete()),
    "Graph.instantiate": Call(ALWAYS, lambda use: use.graph.instantiate().close()),
    "Graph.remove": Call(ALWAYS, lambda use: use.graph.remove(use.graph.add_empty())),
    "Graph.remove_dependencies": on_nodes(edges),
    "Graph.to_dot": Call(ALWAYS, lambda use: use.graph.to_dot()),
    **editing("Graph"),
}
EXEC = {
    "GraphExec.__init__": Call(ALWAYS, lambda use: use.graph.instantiate().close()),
    "GraphExec.adopt": Call(ALWAYS, lambda use: GraphExec.adopt(instantiate(use), 0).close()),
    "GraphExec.borrow": Call(ALWAYS, lambda use: GraphExec.borrow(use.graphexec.handle)),
    "GraphExec.close": Call(ALWAYS, lambda use: use.graphexec.close()),
    "GraphExec.is_enabled": on_nodes(lambda use, at: use.graphexec.is_enabled(at.memset)),
    "GraphExec.launch": Call(ALWAYS, lambda use: use.graphexec.launch(use.idle)),
    "GraphExec.launch into the capture": Call(NEVER, lambda use: use.graphexec.launch(use.stream)),
    "GraphExec.set_child": on_nodes(lambda use, at: use.graphexec.set_child(at.child, use.other)),
    "GraphExec.set_enabled": on_nodes(
        lambda use, at: use.graphexec.set_enabled(at.memset, enabled=False)
    ),
    "GraphExec.synchronize": Call(BY_MODE, lambda use: use.graphexec.synchronize()),
    "GraphExec.synchronize within a limit": Call(ALWAYS, lambda use: use.graphexec.synchronize(9)),
    "GraphExec.update": Call(ALWAYS, lambda use: use.graphexec.update(use.graph)),
    "GraphExec.update anew": Call(ALWAYS, lambda use: use.graphexec.update(use.other)),
    "GraphExec.upload": Call(ALWAYS, lambda use: use.graphexec.upload(use.idle)),
    "GraphExec.wait": Call(BY_MODE, lambda use: use.graphexec.wait()),
    "GraphExec.wait within a limit": Call(ALWAYS, lambda use: use.graphexec.wait(9)),
    **editing("GraphExec"),
}
