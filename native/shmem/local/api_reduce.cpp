#include "arguments.h"
#include "stream_operations.h"

using namespace hipgraph::shmem;

namespace {

int reduce(void* team, Reduction reduction, Element element, void* target, const void* source,
           int count, void* stream) {
  return entry([&] {
    const WorldPtr here = world();
    const TeamPtr members = check_team(*here, team);
    StreamOperations(*here, stream).reduce(*members, reduction, element, target, source, count);
  });
}

}  // namespace

#define HGS_REDUCE(name, Name, type, Type, Number)                                             \
  int hgs_##type##_##name##_reduce_on_stream(void* team, Number* target, const Number* source, \
                                             int count, void* stream) {                        \
    return reduce(team, Reduction::Name, Element::Type, target, source, count, stream);        \
  }
#define HGS_REDUCE_ALL(type, Type, Number) \
  HGS_REDUCE(sum, Sum, type, Type, Number) \
  HGS_REDUCE(min, Min, type, Type, Number) \
  HGS_REDUCE(max, Max, type, Type, Number) \
  HGS_REDUCE(prod, Prod, type, Type, Number)

HGS_REDUCE_ALL(float, Float, float)
HGS_REDUCE_ALL(double, Double, double)
HGS_REDUCE_ALL(int, Int, int)
HGS_REDUCE_ALL(long, Long, long)
HGS_REDUCE_ALL(bfloat16, Bfloat16, uint16_t)
