// How logical cores are arranged in devices, for the calls that speak of devices: as few devices as
// have equally many cores each, and at most as many as the vendor's devices have at most.
#pragma once

#include <cstdint>

#include "ndl/ndl.h"

namespace millrace::nrt {

// Requirement: cores >= 1, in all functions.
constexpr uint32_t cores_per_device(uint32_t cores) noexcept {
  uint32_t per_device = MAX_NC_PER_DEVICE;
  while (cores % per_device != 0) --per_device;
  return per_device;
}
constexpr uint32_t devices_of(uint32_t cores) noexcept {
  return cores / cores_per_device(cores);
}

static_assert(devices_of(1) == 1 && devices_of(8) == 1 && devices_of(11) == 11);
static_assert(cores_per_device(12) == 6 && cores_per_device(128) == 8);

}  // namespace millrace::nrt
