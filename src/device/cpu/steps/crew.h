// Crew: the thread that measures kernels, and threads that help it as the lanes of the device help
// a job. The lanes themselves may be busy when a model is loaded, and the measuring thread may be
// one.
//
// While it lives, the thread that made it is in an OpenMpThreads scope. Belongs to that thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "device/cpu/dnnl/openmp/openmp.h"
#include "device/cpu/dnnl/traits.h"
#include "queue/requests/run_control.h"

namespace millrace::device::cpu {

class Crew {
 public:
  Crew();
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Has primitives made and run for this number of threads, of which one is the caller. Starts
  // those that are missing; if the system refuses one, the others do its part.
  void set(uint32_t threads);
  uint32_t threads() const noexcept { return threads_; }
  // Until the next set(), has primitives of that implementation run as they do in programs: with
  // one thread if they may not be divided.
  void run_as(std::string_view implementation) noexcept {
    openmp_->set(may_be_divided(implementation) ? threads_ : 1);
  }
  // For steps of the device's own.
  queue::RunControl& control() noexcept { return control_; }

 private:
  class Helpers;
  std::unique_ptr<Helpers> helpers_;  // null as long as there is one thread
  queue::RunControl control_;
  // Declared behind the helpers, so that its scope ends before the team that it leads.
  std::unique_ptr<OpenMpThreads> openmp_;
  uint32_t threads_ = 1;
};

}  // namespace millrace::device::cpu
