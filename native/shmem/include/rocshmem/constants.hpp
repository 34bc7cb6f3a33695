// Numbers, types and symbols, as in AMD's rocSHMEM.
#pragma once
#include "../hipgraph_shmem/device_language.h"

namespace rocshmem {

using size_t = __SIZE_TYPE__;
using ptrdiff_t = __PTRDIFF_TYPE__;
using int32_t = __INT32_TYPE__;
using int64_t = __INT64_TYPE__;
using uint32_t = __UINT32_TYPE__;
using uint64_t = __UINT64_TYPE__;

enum ROCSHMEM_STATUS { ROCSHMEM_SUCCESS = 0, ROCSHMEM_ERROR = 1 };

enum ROCSHMEM_OP {
  ROCSHMEM_SUM = 0,
  ROCSHMEM_MAX = 1,
  ROCSHMEM_MIN = 2,
  ROCSHMEM_PROD = 3,
  ROCSHMEM_AND = 4,
  ROCSHMEM_OR = 5,
  ROCSHMEM_XOR = 6,
  ROCSHMEM_REPLACE = 7,
};

enum ROCSHMEM_SIGNAL_OPS { ROCSHMEM_SIGNAL_SET = 0, ROCSHMEM_SIGNAL_ADD = 1 };

enum rocshmem_cmps {
  ROCSHMEM_CMP_EQ = 0,
  ROCSHMEM_CMP_NE = 1,
  ROCSHMEM_CMP_GT = 2,
  ROCSHMEM_CMP_GE = 3,
  ROCSHMEM_CMP_LT = 4,
  ROCSHMEM_CMP_LE = 5,
};

enum rocshmem_thread_ops {
  ROCSHMEM_THREAD_SINGLE = 0,
  ROCSHMEM_THREAD_FUNNELED = 1,
  ROCSHMEM_THREAD_WG_FUNNELED = 2,
  ROCSHMEM_THREAD_SERIALIZED = 3,
  ROCSHMEM_THREAD_MULTIPLE = 4,
};

constexpr int ROCSHMEM_CTX_ZERO = 0;
constexpr int ROCSHMEM_CTX_NOSTORE = 1;
constexpr int ROCSHMEM_CTX_SERIALIZED = 2;
constexpr int ROCSHMEM_CTX_WG_PRIVATE = 4;
constexpr int ROCSHMEM_CTX_SHARED = 8;

/// Here ctx_opaque is the hgs_device_state, and team_opaque an hgs_team.
struct rocshmem_ctx_t {
  void* ctx_opaque;
  void* team_opaque;
};

/// Here an hgs_team.
using rocshmem_team_t = uint64_t*;
constexpr rocshmem_team_t ROCSHMEM_TEAM_INVALID = nullptr;

// What module initialisation fills. Weak: every translation unit brings its own, one is kept. Used:
// kept even where the code never looks at it.
#define HGS_SYMBOL __attribute__((device, used, weak, visibility("default")))
extern "C" {
HGS_SYMBOL rocshmem_ctx_t ROCSHMEM_CTX_DEFAULT;
HGS_SYMBOL rocshmem_team_t ROCSHMEM_TEAM_WORLD;
HGS_SYMBOL rocshmem_team_t ROCSHMEM_TEAM_SHARED;
}
#undef HGS_SYMBOL

}  // namespace rocshmem

namespace hgs {

HGS_DEVICE State* default_state() { return (State*)rocshmem::ROCSHMEM_CTX_DEFAULT.ctx_opaque; }

}  // namespace hgs
