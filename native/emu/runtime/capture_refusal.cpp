#include "runtime/capture_refusal.h"

#include <set>
#include <string>

#include "runtime/json.h"

namespace hipgraph::emu {

// There are few different texts, so each is kept: another thread's question changes none that a
// caller still reads.
const char* json_of(const CaptureRefusal& refusal) {
  static auto& texts = *new std::set<std::string>;
  if (refusal.call.empty()) return nullptr;
  const std::string json = JsonObject()
                               .add("call", refusal.call)
                               .add("code", static_cast<int>(refusal.code))
                               .add_raw("other_thread", refusal.other_thread ? "true" : "false")
                               .text();
  return texts.insert(json).first->c_str();
}

}  // namespace hipgraph::emu
