#include "runtime/graph.h"

#include <algorithm>
#include <deque>

#include "entry.h"
#include "runtime/handle_table.h"

namespace hipgraph::emu {
namespace {

HandleTable<hipGraph_t, Graph>& graphs() {
  static auto& all = *new HandleTable<hipGraph_t, Graph>("graphs");
  return all;
}

std::unordered_map<hipGraph_t, std::weak_ptr<Graph>>& embedded_graphs() {
  static auto& all = *new std::unordered_map<hipGraph_t, std::weak_ptr<Graph>>;
  return all;
}

std::unordered_map<hipGraphNode_t, Node*>& nodes_by_handle() {
  static auto& all = *new std::unordered_map<hipGraphNode_t, Node*>;
  return all;
}

std::uint64_t next_number() {
  static std::uint64_t given = 0;
  return ++given;
}

bool drop(std::vector<Node*>& nodes, const Node* node) {
  const auto found = std::ranges::find(nodes, node);
  if (found == nodes.end()) return false;
  nodes.erase(found);
  return true;
}

}  // namespace

hipGraphNodeType type_of(const NodeWork& work) {
  constexpr std::array types{
      hipGraphNodeTypeEmpty,       hipGraphNodeTypeKernel,    hipGraphNodeTypeMemcpy,
      hipGraphNodeTypeMemset,      hipGraphNodeTypeHost,      hipGraphNodeTypeGraph,
      hipGraphNodeTypeEventRecord, hipGraphNodeTypeWaitEvent, hipGraphNodeTypeMemAlloc,
      hipGraphNodeTypeMemFree,     hipGraphNodeTypeBatchMemOp};
  static_assert(types.size() == std::variant_size_v<NodeWork>);
  return types[work.index()];
}

Graph::Graph(int device) : device_(device), number_(next_number()) {}

Graph::~Graph() {
  for (const auto& node : nodes_) nodes_by_handle().erase(node->handle);
  embedded_graphs().erase(handle);
}

Node& Graph::add(NodeWork work, std::span<Node* const> dependencies) {
  auto node = std::make_unique<Node>();
  node->handle = reinterpret_cast<hipGraphNode_t>(new_handle_value());
  node->graph = this;
  node->number = next_number();
  node->work = std::move(work);
  node->dependencies.assign(dependencies.begin(), dependencies.end());
  for (Node* dependency : dependencies) dependency->dependents.push_back(node.get());
  nodes_by_handle().emplace(node->handle, node.get());
  nodes_.push_back(std::move(node));
  return *nodes_.back();
}

void Graph::remove(Node& node) {
  for (Node* dependency : node.dependencies) drop(dependency->dependents, &node);
  for (Node* dependent : node.dependents) drop(dependent->dependencies, &node);
  nodes_by_handle().erase(node.handle);
  std::erase_if(nodes_, [&](const auto& owned) { return owned.get() == &node; });
}

bool Graph::connect(Node& from, Node& to) {
  if (std::ranges::find(to.dependencies, &from) != to.dependencies.end()) return false;
  to.dependencies.push_back(&from);
  from.dependents.push_back(&to);
  return true;
}

bool Graph::disconnect(Node& from, Node& to) {
  return drop(to.dependencies, &from) && drop(from.dependents, &to);
}

std::vector<Node*> Graph::ordered() const {
  std::unordered_map<const Node*, std::size_t> waits_for;
  std::deque<Node*> ready;
  for (const auto& node : nodes_) {
    waits_for[node.get()] = node->dependencies.size();
    if (node->dependencies.empty()) ready.push_back(node.get());
  }
  std::vector<Node*> order;
  order.reserve(nodes_.size());
  while (!ready.empty()) {
    Node* node = ready.front();
    ready.pop_front();
    order.push_back(node);
    for (Node* dependent : node->dependents) {
      if (--waits_for[dependent] == 0) ready.push_back(dependent);
    }
  }
  return order;
}

GraphPtr Graph::clone() const {
  auto copy = std::make_shared<Graph>(device_);
  copy->cloned_from_ = number_;
  copy->references.keep_each_of(references);
  std::unordered_map<const Node*, Node*> twin;
  for (const auto& node : nodes_) {
    NodeWork work = node->work;
    if (auto* child = std::get_if<ChildWork>(&work)) child->graph = child->graph->clone();
    twin[node.get()] = &copy->add(std::move(work), {});
    twin[node.get()]->manual = node->manual;
    twin[node.get()]->number = node->number;
  }
  for (const auto& node : nodes_) {
    for (Node* dependency : node->dependencies) {
      twin[node.get()]->dependencies.push_back(twin[dependency]);
    }
    for (Node* dependent : node->dependents) {
      twin[node.get()]->dependents.push_back(twin[dependent]);
    }
  }
  return copy;
}

Node* Graph::twin_of(const Node& original) const {
  if (cloned_from_ != original.graph->number_) return nullptr;
  const auto found = std::ranges::find(nodes_, original.number, &Node::number);
  return found == nodes_.end() ? nullptr : found->get();
}

GraphPtr find_graph(hipGraph_t handle) {
  GraphPtr graph = graphs().find(handle);
  const auto embedded = embedded_graphs().find(handle);
  if (embedded != embedded_graphs().end()) graph = embedded->second.lock();
  abi::require(graph != nullptr, hipErrorInvalidValue);
  return graph;
}

hipGraph_t add_graph(const GraphPtr& graph) { return graphs().insert(graph); }

hipGraph_t handle_of_embedded(const GraphPtr& graph) {
  if (graph->handle == nullptr) {
    graph->handle = reinterpret_cast<hipGraph_t>(new_handle_value());
    embedded_graphs().emplace(graph->handle, graph);
  }
  return graph->handle;
}

void destroy_graph(hipGraph_t handle) {
  const GraphPtr graph = graphs().find(handle);
  abi::require(graph != nullptr && !graph->capturing, hipErrorInvalidValue);
  graphs().erase(handle);
}

Node* find_node(hipGraphNode_t handle) {
  const auto found = nodes_by_handle().find(handle);
  return found == nodes_by_handle().end() ? nullptr : found->second;
}

Node& required_node(hipGraphNode_t handle) {
  Node* node = find_node(handle);
  abi::require(node != nullptr, hipErrorInvalidValue);
  return *node;
}

}  // namespace hipgraph::emu
