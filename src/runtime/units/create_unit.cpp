#include "runtime/units/create_unit.h"

#include <utility>

#include "runtime/units/watchdog.h"

namespace millrace::runtime {

Result<std::unique_ptr<queue::Unit>> create_unit(device::Device& device, device::Work work,
                                                 queue::UnitOptions options, queue::Lanes* lanes) {
  MILLRACE_ASSIGN_OR_RETURN(options.watchdog, watchdog_in_force(options.watchdog));
  options.acceptance_order = device.acceptance_order(work);
  return queue::Unit::create(lanes != nullptr ? *lanes : device.lanes(), std::move(options));
}

}  // namespace millrace::runtime
