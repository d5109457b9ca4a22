// ExecutionScope: an execution on a core as an event, with its operators where somebody wants them.
#pragma once

#include <optional>
#include <vector>

#include "nrt/model.h"
#include "nrt/trace/tap.h"
#include "queue/run_control.h"

namespace millrace::nrt::trace {

// On the thread that runs the request, around all that it does.
class ExecutionScope final : private queue::ProgressObserver {
 public:
  ExecutionScope(const Model& model, queue::RunControl& control, nrta_seq_t sequence) noexcept
      : control_(control) {
    if (listening()) [[unlikely]]
      begin(model, sequence);
  }
  ~ExecutionScope() {
    if (span_) [[unlikely]]
      end();
  }
  ExecutionScope(const ExecutionScope&) = delete;
  ExecutionScope& operator=(const ExecutionScope&) = delete;

  void ended_with(NRT_STATUS status) noexcept {
    if (span_) [[unlikely]]
      span_->status = status;
  }

 private:
  void begin(const Model& model, nrta_seq_t sequence) noexcept;
  void end() noexcept;
  void observe(size_t steps, uint32_t frames) noexcept;
  void go_on_with(uint32_t step) noexcept;
  void on_progress(const queue::RunControl& control) noexcept override;
  void on_steps_done() noexcept override { go_on_with(StepMark::kOutputs); }

  queue::RunControl& control_;
  std::optional<Span> span_;
  // Of the steps, while they are observed.
  bool observed_ = false;
  queue::ProgressObserver* previous_ = nullptr;
  size_t steps_ = 0;
  std::optional<uint16_t> frame_;
  std::vector<StepMark> marks_;  // room for all, so that none is allocated between two steps
};

}  // namespace millrace::nrt::trace
