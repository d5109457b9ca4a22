// ExecutionScope: records an execution on a core as an event, with the start of each of its steps
// if a listener requests them.
#pragma once

#include <optional>
#include <vector>

#include "nrt/objects/model.h"
#include "nrt/trace/run_scope.h"
#include "queue/requests/run_control.h"

namespace millrace::nrt::trace {

// An object exists on the thread that runs the request, during the whole run.
class ExecutionScope final : private queue::ProgressObserver {
 public:
  ExecutionScope(const Model& model, queue::RunControl& control, nrta_seq_t sequence,
                 int64_t scheduled_ns) noexcept
      : control_(control), run_(kExecRunning, sequence, scheduled_ns) {
    if (Span* const span = run_.span()) [[unlikely]]
      begin(model, *span);
  }
  ~ExecutionScope() {
    if (Span* const span = run_.span()) [[unlikely]]
      end(*span);
  }
  ExecutionScope(const ExecutionScope&) = delete;
  ExecutionScope& operator=(const ExecutionScope&) = delete;

  void ended_with(NRT_STATUS status) noexcept { run_.ended_with(status); }

 private:
  void begin(const Model& model, Span& span) noexcept;
  void end(Span& span) noexcept;
  void observe(size_t steps, uint32_t frames, int64_t begin_ns) noexcept;
  void go_on_with(uint32_t step) noexcept;
  void on_progress(const queue::RunControl& control) noexcept override;
  void on_steps_done(const queue::RunControl&) noexcept override { go_on_with(StepMark::kOutputs); }

  queue::RunControl& control_;
  // The state of the observation of steps; unused if no listener requests them.
  std::optional<queue::ObserverScope> observed_;
  size_t steps_ = 0;
  std::optional<uint16_t> frame_;
  std::vector<StepMark> marks_;  // reserved in advance, so that recording a step never allocates
  RunScope run_;                 // destroyed before marks_, to which its span refers
};

}  // namespace millrace::nrt::trace
