#pragma once
#include <memory>
#include <string>

#include "runtime/command.h"
#include "runtime/node_work.h"

namespace hipgraph::emu {

/// When the nodes of graph launches began and ended, while somebody wants to draw that. All of it
/// expects the API lock to be held.
class Timeline {
 public:
  static Timeline& instance();

  /// A node of one launch, from its first moment to its last.
  struct Span;
  using SpanPtr = std::shared_ptr<Span>;

  /// A span that is not measured yet, for a node launched on `stream`; null when nobody wants it.
  SpanPtr add(const NodeWork& work, int device, hipStream_t stream);
  /// The commands that measure: one before the node's own, one behind it.
  static CommandPtr begin_of(const SpanPtr& span);
  static CommandPtr end_of(const SpanPtr& span);

  /// What was added since the last call, as a JSON array; `on` says whether to go on.
  std::string take(bool on);

 private:
  bool on_ = false;
  std::vector<SpanPtr> spans_;
};

}  // namespace hipgraph::emu
