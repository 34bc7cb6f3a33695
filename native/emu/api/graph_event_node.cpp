#include "api/api.h"
#include "runtime/node_params.h"

using namespace hipgraph::emu;

HIPGRAPH_API hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t* event) {
  return entry([&] {
    const ApiLock lock;
    *required(event) = work_as<EventRecordWork>(required_node(node).work).event->handle;
  });
}

HIPGRAPH_API hipError_t hipGraphEventRecordNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
  return entry([&] {
    const ApiLock lock;
    edit(required_node(node), EventRecordWork{event_of_node(event)});
  });
}

HIPGRAPH_API hipError_t hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t graph_exec,
                                                            hipGraphNode_t node, hipEvent_t event) {
  return entry([&] {
    const ApiLock lock;
    edit(find_graph_exec(graph_exec)->node(node), EventRecordWork{event_of_node(event)});
  });
}

HIPGRAPH_API hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t* event) {
  return entry([&] {
    const ApiLock lock;
    *required(event) = work_as<EventWaitWork>(required_node(node).work).event->handle;
  });
}

HIPGRAPH_API hipError_t hipGraphEventWaitNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
  return entry([&] {
    const ApiLock lock;
    edit(required_node(node), EventWaitWork{event_of_node(event)});
  });
}

HIPGRAPH_API hipError_t hipGraphExecEventWaitNodeSetEvent(hipGraphExec_t graph_exec,
                                                          hipGraphNode_t node, hipEvent_t event) {
  return entry([&] {
    const ApiLock lock;
    edit(find_graph_exec(graph_exec)->node(node), EventWaitWork{event_of_node(event)});
  });
}
