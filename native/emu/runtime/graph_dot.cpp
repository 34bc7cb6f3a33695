#include "runtime/graph_dot.h"

#include <sstream>

#include "runtime/event.h"
#include "runtime/graph_memory.h"

namespace hipgraph::emu {
namespace {

std::ostream& operator<<(std::ostream& out, const dim3& size) {
  return out << '(' << size.x << ',' << size.y << ',' << size.z << ')';
}

std::ostream& operator<<(std::ostream& out, const hipExtent& extent) {
  return out << extent.width << 'x' << extent.height << 'x' << extent.depth;
}

/// The lines of a node's label below its number: what it is, and its parameters if asked for.
struct NodeLabel {
  unsigned flags;
  std::ostringstream text;

  bool shows(unsigned flag) const { return (flags & (flag | hipGraphDebugDotFlagsVerbose)) != 0; }

  void operator()(const EmptyWork&) { text << "EMPTY"; }
  void operator()(const ChildWork&) { text << "GRAPH"; }
  void operator()(const KernelWork& work) {
    text << work.function->kernel->name;
    if (!shows(hipGraphDebugDotFlagsKernelNodeParams)) return;
    text << "\\ngrid " << work.grid << " block " << work.block;
    text << "\\ndynamic LDS " << work.dynamic_lds_bytes << " bytes";
  }
  void operator()(const MemcpyWork& work) {
    text << "MEMCPY";
    if (!shows(hipGraphDebugDotFlagsMemcpyNodeParams)) return;
    const hipMemcpy3DParms& parms = work.parms;
    text << "\\nfrom " << parms.srcPtr.ptr << " to " << parms.dstPtr.ptr;
    text << "\\nextent " << parms.extent << " kind " << parms.kind;
  }
  void operator()(const MemsetWork& work) {
    text << "MEMSET";
    if (!shows(hipGraphDebugDotFlagsMemsetNodeParams)) return;
    const hipMemsetParams& parms = work.parms;
    text << "\\n" << parms.dst << " value " << parms.value << " of " << parms.elementSize;
    text << " bytes\\n" << parms.width << 'x' << parms.height << " pitch " << parms.pitch;
  }
  void operator()(const HostWork& work) {
    text << "HOST";
    if (!shows(hipGraphDebugDotFlagsHostNodeParams)) return;
    text << "\\nfn " << reinterpret_cast<const void*>(work.parms.fn);
    text << " userData " << work.parms.userData;
  }
  void operator()(const EventRecordWork& work) {
    text << "EVENT_RECORD";
    if (shows(hipGraphDebugDotFlagsEventNodeParams)) text << "\\n" << work.event->handle;
  }
  void operator()(const EventWaitWork& work) {
    text << "EVENT_WAIT";
    if (shows(hipGraphDebugDotFlagsEventNodeParams)) text << "\\n" << work.event->handle;
  }
  void operator()(const MemoryWork& work) {
    text << "BATCH_MEM_OP";
    if (!shows(hipGraphDebugDotFlagsVerbose)) return;
    for (const MemoryOperation& operation : work.operations) text << "\\n" << operation.address;
  }
  void operator()(const MemAllocWork& work) {
    text << "MEM_ALLOC";
    if (!shows(hipGraphDebugDotFlagsVerbose)) return;
    const hipMemAllocNodeParams& params = work.allocation->params();
    text << "\\n" << params.dptr << "\\n" << params.bytesize << " bytes";
  }
  void operator()(const MemFreeWork& work) {
    text << "MEM_FREE";
    if (shows(hipGraphDebugDotFlagsVerbose)) text << "\\n" << work.allocation->params().dptr;
  }
};

struct DotWriter {
  unsigned flags;
  std::ostringstream out;

  static std::string name(const Graph& graph, const Node& node) {
    std::ostringstream text;
    text << "\"graph_" << graph.number() << "_node_" << node.number << '"';
    return text.str();
  }

  void write_node(const Graph& graph, const Node& node) {
    NodeLabel label{flags, {}};
    std::visit(label, node.work);
    out << name(graph, node) << " [style=\"solid\" shape=\"rectangle\" label=\"" << node.number;
    if (label.shows(hipGraphDebugDotFlagsHandles)) out << ' ' << node.handle;
    out << "\\n" << label.text.str() << "\"];\n";
  }

  void write_graph(const Graph& graph) {
    out << "subgraph cluster_" << graph.number() << " {\nlabel=\"graph_" << graph.number()
        << "\";\n";
    for (const auto& node : graph.nodes()) write_node(graph, *node);
    for (const auto& node : graph.nodes()) {
      for (const Node* dependent : node->dependents) {
        out << name(graph, *node) << " -> " << name(graph, *dependent) << ";\n";
      }
    }
    out << "}\n";
    for (const auto& node : graph.nodes()) {
      const auto* child = std::get_if<ChildWork>(&node->work);
      if (child != nullptr) write_graph(*child->graph);
    }
  }
};

}  // namespace

std::string dot_of(const Graph& graph, unsigned flags) {
  DotWriter writer{flags, {}};
  writer.out << "digraph dot {\n";
  writer.write_graph(graph);
  writer.out << "}\n";
  return writer.out.str();
}

}  // namespace hipgraph::emu
