// ExecutionScope: an execution on a core as an event, with its operators when a listener wants
// them.
#pragma once

#include <optional>
#include <vector>

#include "nrt/objects/model.h"
#include "nrt/trace/run_scope.h"
#include "queue/requests/run_control.h"

namespace millrace::nrt::trace {

// Lives on the thread that runs the request, around the whole run.
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
  // State of the steps, while they are observed.
  std::optional<queue::ObserverScope> observed_;
  size_t steps_ = 0;
  std::optional<uint16_t> frame_;
  std::vector<StepMark> marks_;  // room for all, so that none is allocated between two steps
  RunScope run_;                 // destroyed first, so its span still refers to `marks_`
};

}  // namespace millrace::nrt::trace
