#include "machine/trap.h"

namespace hipgraph::emu {

const char* name(TrapKind kind) {
  switch (kind) {
    case TrapKind::IllegalInstruction: return "illegal instruction";
    case TrapKind::UnsupportedInstruction: return "unsupported instruction";
    case TrapKind::UnsupportedModifier: return "unsupported modifier";
    case TrapKind::MemoryFault: return "memory fault";
    case TrapKind::LdsFault: return "LDS fault";
    case TrapKind::RegisterFault: return "register fault";
    case TrapKind::BadBranch: return "bad branch";
    case TrapKind::Abort: return "abort";
  }
  __builtin_unreachable();  // the enumeration has no other member
}

}  // namespace hipgraph::emu
