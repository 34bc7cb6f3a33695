#pragma once
#include <cstdint>

#include "hip_abi.h"

namespace hipgraph::emu {

/// Device memory that processes of one machine share. An exported allocation lives in a file in
/// memory; another process opens that file through /proc of the exporter, which needs no more than
/// the same user. The pages live as long as anybody maps them. All functions throw HIP's code and
/// must be called without the API lock.

/// A handle for the device allocation that holds `address`, with the offset of `address` in it.
hipIpcMemHandle_t export_memory(std::uint64_t address);
/// Where the memory behind a handle lies in this process; each call is one more use of it.
std::uint64_t import_memory(const hipIpcMemHandle_t& handle, int device);
/// Ends one use of imported memory that holds `address`; the last one waits for the device and
/// unmaps it.
void close_import(std::uint64_t address);

/// The same for the memory of a shared event; what is no such handle is an invalid value.
hipIpcEventHandle_t export_event_memory(std::uint64_t base);
std::uint64_t import_event_memory(const hipIpcEventHandle_t& handle, int device);
/// Ends one use at once: nothing may need the memory any more. The API lock may be held.
void release_event_memory(std::uint64_t base);

}  // namespace hipgraph::emu
