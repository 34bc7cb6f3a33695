#include "api/graph_place.h"

#include <algorithm>

namespace hipgraph::emu {

std::vector<Node*> find_dependencies(const GraphPlace& place, const Graph& graph) {
  require(place.count == 0 || place.dependencies != nullptr, hipErrorInvalidValue);
  std::vector<Node*> found;
  for (std::size_t i = 0; i < place.count; ++i) {
    Node* node = &required_node(place.dependencies[i]);
    const bool repeated = std::ranges::find(found, node) != found.end();
    require(node->graph == &graph && !repeated, hipErrorInvalidValue);
    found.push_back(node);
  }
  return found;
}

}  // namespace hipgraph::emu
