// A device plugin built for a version of the interface that this library does not have.
#include "device/registry.h"

extern "C" const millrace::device::PluginEntry* millrace_device_plugin() {
  static constexpr millrace::device::PluginEntry entry = {millrace::device::kPluginVersion + 1,
                                                          nullptr};
  return &entry;
}
