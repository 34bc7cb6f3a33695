#include "runtime/graph_exec.h"

#include <string>

#include "entry.h"
#include "runtime/api_lock.h"
#include "runtime/block.h"
#include "runtime/divergence.h"
#include "runtime/event.h"
#include "runtime/executor.h"
#include "runtime/failures.h"
#include "runtime/graph_memory.h"
#include "runtime/handle_table.h"
#include "runtime/host_function.h"
#include "runtime/node_commands.h"
#include "runtime/race_check.h"
#include "runtime/timeline.h"

namespace hipgraph::emu {
namespace {

HandleTable<hipGraphExec_t, GraphExec>& graph_execs() {
  static auto& all = *new HandleTable<hipGraphExec_t, GraphExec>("graph execs");
  return all;
}

/// Holds one reference to each user object of a graph and of the graphs inside it.
void keep_objects_of(const Graph& graph, UserReferences& references) {
  references.keep_each_of(graph.references);
  for (const auto& node : graph.nodes()) {
    const auto* child = std::get_if<ChildWork>(&node->work);
    if (child != nullptr) keep_objects_of(*child->graph, references);
  }
}

void drop_references(void* references) {
  const ApiLock lock(ApiLock::Caller::Library);
  delete static_cast<UserReferences*>(references);
}

/// Holds what an exec held while it was in flight. A failure before it keeps it from starting, but
/// not from ending.
class HeldReferences final : public Command {
 public:
  explicit HeldReferences(UserReferences references) : references_(std::move(references)) {}
  HeldReferences(const HeldReferences&) = delete;
  HeldReferences& operator=(const HeldReferences&) = delete;
  /// The caller's destructors run where host functions do.
  ~HeldReferences() override {
    run_host_function(drop_references, new UserReferences(std::move(references_)));
  }
  Progress start() override { return Progress::Complete; }

 private:
  UserReferences references_;
};

/// The commands of one launch, in an order where predecessors come first.
struct Batch {
  int device;
  StreamPtr stream;
  std::string origin;
  std::string where;   ///< the stream, for reports
  CommandPtr earlier;  ///< a launch to wait for although nothing orders the two; null: none
  std::vector<CommandPtr> commands;
  std::vector<std::vector<CommandPtr>> after;

  CommandPtr add(CommandPtr command, std::vector<CommandPtr> predecessors,
                 const std::string& place = {}) {
    if (RaceCheck* check = RaceCheck::active()) check->follow(*command, predecessors, place);
    if (earlier != nullptr) predecessors.push_back(earlier);
    commands.push_back(command);
    after.push_back(std::move(predecessors));
    return command;
  }

  /// Adds nodes behind `entry`; returns the commands that nothing among them waits for.
  std::vector<CommandPtr> add_nodes(const std::vector<ExecNode>& nodes,
                                    const std::vector<CommandPtr>& entry) {
    std::vector<CommandPtr> ends(nodes.size());
    std::vector<bool> leaf(nodes.size(), true);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      std::vector<CommandPtr> predecessors;
      for (const std::size_t dependency : nodes[i].dependencies) {
        predecessors.push_back(ends[dependency]);
        leaf[dependency] = false;
      }
      ends[i] = add_timed(nodes[i], i, predecessors.empty() ? entry : std::move(predecessors));
    }
    std::vector<CommandPtr> leaves;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (leaf[i]) leaves.push_back(ends[i]);
    }
    return leaves;
  }

  /// Adds a node, and what measures it where a timeline is wanted.
  CommandPtr add_timed(const ExecNode& node, std::size_t position,
                       std::vector<CommandPtr> predecessors) {
    const auto span = Timeline::instance().add(node.work, device, stream->handle);
    if (!span) return add_node(node, position, std::move(predecessors));
    const CommandPtr begin = add(Timeline::begin_of(span), std::move(predecessors));
    return add(Timeline::end_of(span), {add_node(node, position, {begin})});
  }

  CommandPtr add_node(const ExecNode& node, std::size_t position,
                      std::vector<CommandPtr> predecessors) {
    if (node.enabled == 0) return add(make_marker(), std::move(predecessors));
    if (const auto* record = std::get_if<EventRecordWork>(&node.work)) {
      return add(begin_record(*record->event, stream), std::move(predecessors));
    }
    if (const auto* wait = std::get_if<EventWaitWork>(&node.work)) {
      const CommandPtr& awaited = wait->event->command;
      if (Failures::instance().orders(awaited)) predecessors.push_back(awaited);
      return add(make_marker(), std::move(predecessors));
    }
    if (!std::holds_alternative<ChildWork>(node.work)) {
      const std::string place = origin + " node " + std::to_string(position) + " (" +
                                hex(reinterpret_cast<std::uint64_t>(node.origin)) + ") on " + where;
      return add(make_command(node.work, device, place), std::move(predecessors), place);
    }
    // The marker comes after the child's own start too, so that an empty child still orders.
    std::vector<CommandPtr> ends = add_nodes(node.child, predecessors);
    return add(make_marker(), ends.empty() ? std::move(predecessors) : std::move(ends));
  }
};

/// Refuses nodes whose kernel's module was unloaded since.
void check_modules(const std::vector<ExecNode>& nodes) {
  for (const ExecNode& node : nodes) {
    const auto* kernel = std::get_if<KernelWork>(&node.work);
    const bool runs = kernel != nullptr && node.enabled != 0;
    abi::require(!runs || kernel->function->live, hipErrorInvalidDeviceFunction);
    check_modules(node.child);
  }
}

}  // namespace

std::vector<ExecNode> freeze(const Graph& graph) {
  const std::vector<Node*> order = graph.ordered();
  abi::require(order.size() == graph.nodes().size(), hipErrorInvalidValue);
  std::unordered_map<const Node*, std::size_t> positions;
  std::vector<ExecNode> frozen;
  frozen.reserve(order.size());
  for (const Node* node : order) {
    positions[node] = frozen.size();
    ExecNode copy{node->handle, node->work, {}, {}};
    for (const Node* dependency : node->dependencies) {
      copy.dependencies.push_back(positions.at(dependency));
    }
    // The exec has the child's nodes; the child graph itself ends with its node.
    if (auto* child = std::get_if<ChildWork>(&copy.work)) copy.child = freeze(*child->graph);
    if (auto* child = std::get_if<ChildWork>(&copy.work)) child->graph.reset();
    frozen.push_back(std::move(copy));
  }
  return frozen;
}

GraphExec::GraphExec(const Graph& graph, unsigned long long flags)
    : device_(graph.device()), flags_(flags), nodes_(freeze(graph)) {
  static std::uint64_t execs = 0;
  number_ = ++execs;
  for (std::size_t i = 0; i < nodes_.size(); ++i) positions_.emplace(nodes_[i].origin, i);
  keep_objects_of(graph, references_);
}

GraphExec::~GraphExec() {
  if (references_.empty()) return;
  if (!last_end_ || Executor::instance().complete(last_end_)) return;
  const auto held = std::make_shared<HeldReferences>(std::move(references_));
  Executor::instance().submit(held, {&last_end_, 1});
}

void GraphExec::launch(const StreamPtr& stream) {
  check_modules(nodes_);
  if (nodes_.empty()) return;
  begin_memory_launch(nodes_, flags_ == hipGraphInstantiateFlagAutoFreeOnLaunch);
  const std::vector<CommandPtr> entry = predecessors(*stream);
  Batch batch{device_,
              stream,
              "graph exec " + std::to_string(number_),
              origin_of_stream(stream->handle),
              nullptr,
              {},
              {}};
  if (last_end_ && !Executor::instance().complete(last_end_)) {
    // HIP leaves launches of one exec unordered unless streams or events order them.
    if (!Executor::instance().precedes(last_end_, entry)) diverge(Divergence::OverlappingLaunches);
    batch.earlier = last_end_;
  }
  std::vector<CommandPtr> leaves = batch.add_nodes(nodes_, entry);
  const CommandPtr end =
      leaves.size() == 1 ? leaves.front() : batch.add(make_marker(), std::move(leaves));
  Executor::instance().submit_all(batch.commands, batch.after);
  stream->tail = end;
  last_end_ = end;
}

ExecNode& GraphExec::node(hipGraphNode_t origin) {
  const auto position = positions_.find(origin);
  abi::require(find_node(origin) != nullptr && position != positions_.end(), hipErrorInvalidValue);
  return nodes_[position->second];
}

GraphExecPtr find_graph_exec(hipGraphExec_t handle) {
  GraphExecPtr graph_exec = graph_execs().find(handle);
  abi::require(graph_exec != nullptr, hipErrorInvalidValue);
  return graph_exec;
}

hipGraphExec_t add_graph_exec(const GraphExecPtr& graph_exec) {
  return graph_execs().insert(graph_exec);
}

void destroy_graph_exec(hipGraphExec_t handle) {
  find_graph_exec(handle);
  graph_execs().erase(handle);
}

}  // namespace hipgraph::emu
