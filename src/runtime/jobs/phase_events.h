// PhaseEvents: while hooks are observed (base/hooks.h), tells observers what a running job does:
// its inputs, each operator as the device runs it, its outputs. Of one thread, that of the job.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/names.h"
#include "queue/requests/run_control.h"

namespace millrace::runtime {

class PhaseEvents final : private queue::ProgressObserver {
 public:
  // Emits events from now until the destructor. `steps` are the names of the steps of the program.
  PhaseEvents(std::span<const NameId> steps, queue::RunControl& control) noexcept;

 private:
  void on_progress(const queue::RunControl& control) noexcept override;
  void on_steps_done(const queue::RunControl& control) noexcept override;
  void go_on_with(NameId name, const queue::RunControl& control) noexcept;

  const std::span<const NameId> steps_;
  std::optional<uint16_t> frame_;
  std::optional<uint32_t> step_;
  const queue::ObserverScope scope_;
};

}  // namespace millrace::runtime
