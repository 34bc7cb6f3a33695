#include "error.h"

#include <cstdio>
#include <exception>
#include <new>

namespace hipgraph::shmem {
namespace {

// A plain array: a thread that ends while the process exits runs no destructor of ours.
thread_local char kept_text[16384];

int keep(hgs_status status, const char* message) noexcept {
  std::snprintf(kept_text, sizeof kept_text, "%s", message);
  return status;
}

}  // namespace

int note_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return keep(error.status, error.text.c_str());
  } catch (const std::bad_alloc&) {
    return keep(HGS_FAILED, "the host is out of memory");
  } catch (const std::exception& error) {
    return keep(HGS_FAILED, error.what());
  } catch (...) {
    return keep(HGS_FAILED, "unknown exception");
  }
}

const char* last_text() noexcept { return kept_text; }

}  // namespace hipgraph::shmem
