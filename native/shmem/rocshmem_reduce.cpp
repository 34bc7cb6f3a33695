#include "rocshmem_state.h"

namespace {

template <typename Reduce>
int reduce_on_stream(const char* call, void* team, int count, void* stream, Reduce reduce) {
  if (count < 0) return hgs::fail(HGS_INVALID, "%s: count=%d", call, count);
  int result = 0;
  const int status = hgs::on_team_stream(call, team, stream, [&](hipStream_t queue) {
    if (count != 0) result = reduce(hgs::team_of(team), queue);
  });
  if (status != HGS_OK || result == 0) return status;
  return hgs::fail(HGS_FAILED, "%s: rocSHMEM answers %d", call, result);
}

}  // namespace

#define HGS_REDUCE(name, operation)                                                           \
  HGS_WHEN(                                                                                   \
      HGS_HAVE_##name##_##operation##_reduce_on_stream,                                       \
      int hgs_##name##_##operation##_reduce_on_stream(                                        \
          void* team, name* target, const name* source, int count, void* stream) {            \
        return reduce_on_stream(                                                              \
            __func__, team, count, stream,                                                    \
            [=](rocshmem::rocshmem_team_t handle, hipStream_t queue) {                        \
              return rocshmem::rocshmem_ctx_##name##_##operation##_reduce_on_stream(          \
                  rocshmem::ROCSHMEM_HOST_CTX_DEFAULT, handle, target, source, count, queue); \
            });                                                                               \
      })
#define HGS_REDUCES(name) \
  HGS_REDUCE(name, sum)   \
  HGS_REDUCE(name, min)   \
  HGS_REDUCE(name, max)   \
  HGS_REDUCE(name, prod)

HGS_REDUCES(float)
HGS_REDUCES(double)
HGS_REDUCES(int)
HGS_REDUCES(long)
