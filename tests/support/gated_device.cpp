#include "tests/support/gated_device.h"

#include "device/faulty/faulty_device.h"
#include "tests/support/pattern_device.h"

namespace millrace::test {

GatedDevice make_gated_device(uint32_t lanes) {
  auto device = std::make_shared<device::FaultyDevice>(std::make_shared<PatternDevice>(lanes));
  device->faults()->hold();
  return {device, device->faults()};
}

void let_everything_go(device::FaultPlan& faults) {
  faults.heal();
  faults.release();
  faults.end_hangs();
}

}  // namespace millrace::test
