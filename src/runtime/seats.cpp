#include "runtime/seats.h"

#include <utility>

#include "runtime/create_unit.h"

namespace millrace::runtime {

Status Seats::make_unit(device::Device& device, queue::Lanes& lanes, std::string name,
                        size_t tensors, JobSync sync, std::shared_ptr<Profile> profile,
                        std::chrono::nanoseconds watchdog) {
  queue::UnitOptions options;
  options.name = std::move(name);
  options.depth = count_;
  options.make_task = [this, tensors, sync = std::move(sync), profile = std::move(profile)] {
    return std::make_unique<JobTask>(tensors, this, sync, profile);
  };
  // A job that fails spoils no other.
  options.auto_reset = true;
  options.watchdog = watchdog;
  MILLRACE_ASSIGN_OR_RETURN(unit_,
                            create_unit(device, device::Work::kJob, std::move(options), &lanes));
  return {};
}

}  // namespace millrace::runtime
