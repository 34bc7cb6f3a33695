#pragma once

namespace hipgraph::emu {

/// Host functions that were handed to the callback thread and have not returned: any of them may
/// still write what a kernel waits for.
int host_functions_in_flight();

}  // namespace hipgraph::emu
