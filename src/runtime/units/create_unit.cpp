#include "runtime/units/create_unit.h"

#include <string>
#include <utility>

#include "device/faulty/faulty_device.h"
#include "live/publisher.h"
#include "runtime/units/watchdog.h"
#include "timeline/recorder.h"

namespace millrace::runtime {

Result<std::unique_ptr<queue::Unit>> create_unit(device::Device& device, device::Work work,
                                                 queue::UnitOptions options, queue::Lanes* lanes) {
  MILLRACE_ASSIGN_OR_RETURN(options.watchdog, watchdog_in_force(options.watchdog));
  options.acceptance_order = device.acceptance_order(work);
  queue::Lanes& used = lanes != nullptr ? *lanes : device.lanes();
  const std::shared_ptr<device::FaultPlan> faults =
      work == device::Work::kJob ? device::faults_of(device) : device::transfer_faults_of(device);
  const std::string name = options.name;
  const bool has_thread = options.own_thread;
  MILLRACE_ASSIGN_OR_RETURN(std::unique_ptr<queue::Unit> unit,
                            queue::Unit::create(used, std::move(options)));
  if (faults != nullptr) MILLRACE_RETURN_IF_ERROR(faults->name_unit(unit->id(), name));
  timeline::name_unit(unit->id(), name);
  live::show_unit(*unit, name, has_thread ? 1 : used.count());
  return unit;
}

}  // namespace millrace::runtime
