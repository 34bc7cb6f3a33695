#include "runtime/device_settings.h"

#include <vector>

#include "runtime/device_model.h"

namespace hipgraph::emu {

DeviceSettings& device_settings(int device) {
  static auto& all =
      *new std::vector<DeviceSettings>(static_cast<std::size_t>(DeviceModel::instance().devices));
  return all[static_cast<std::size_t>(device)];
}

}  // namespace hipgraph::emu
