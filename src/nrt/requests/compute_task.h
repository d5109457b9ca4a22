// ComputeTask: one execution of a model.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nrt/requests/binding.h"
#include "nrt/requests/request_task.h"
#include "runtime/jobs/job_mode.h"
#include "runtime/jobs/job_sync.h"

namespace millrace::nrt {

class ComputeTask final : public RequestTask {
 public:
  // A request that runs longer than `time_limit` ends with kHung at its next operator; one that
  // does not come to an operator is given up by the watchdog.
  // With `nan_check`, one whose outputs have a NaN has failed. For throughput it keeps to its lane.
  //
  // All tasks of a unit have one `scratch`, since one of them runs at a time: it is as large as the
  // inputs that the largest execution has copied (SharedInput).
  ComputeTask(UnitContext unit, std::chrono::nanoseconds time_limit, bool nan_check,
              runtime::JobMode mode, std::shared_ptr<std::vector<std::byte>> scratch)
      : RequestTask(std::move(unit)),
        time_limit_(time_limit),
        nan_check_(nan_check),
        mode_(mode),
        scratch_(std::move(scratch)) {}

  void fill(std::shared_ptr<const Binding> binding, StatusTarget target) noexcept;
  Status run(queue::RunControl& control) noexcept override;
  std::string describe(const queue::RunPosition& position) const override;

 private:
  void on_status_written(const queue::Completion& completion) noexcept override;
  void drop_references() noexcept override;
  std::optional<NRT_STATUS> own_code(const Status& status) const noexcept override;
  Status run_in_time(queue::RunControl& control) noexcept;
  Status copy_shared_inputs() noexcept;
  std::span<const runtime::TensorBinding> inputs() const noexcept;

  const std::chrono::nanoseconds time_limit_;
  const bool nan_check_;
  const runtime::JobMode mode_;
  std::shared_ptr<const Binding> binding_;
  std::atomic<bool> ran_{false};  // the job was handed to the program
  // If there are shared inputs: their copies, and all inputs with the copies in their place.
  const std::shared_ptr<std::vector<std::byte>> scratch_;
  std::vector<runtime::TensorBinding> inputs_;
  const runtime::JobSync sync_;
};

}  // namespace millrace::nrt
