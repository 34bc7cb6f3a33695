#pragma once

namespace hipgraph::emu {

/// Host functions that were handed to the callback thread and have not returned: any of them may
/// still write what a kernel waits for.
int host_functions_in_flight();
/// Calls a function on the callback thread when those before it have returned. May be called from
/// any thread.
void run_host_function(void (*function)(void*), void* user_data);
/// Whether the calling thread is the one that runs them.
bool on_callback_thread();
/// From now on host functions are not called: their commands end with hipErrorDeinitialized.
void stop_host_functions();

}  // namespace hipgraph::emu
