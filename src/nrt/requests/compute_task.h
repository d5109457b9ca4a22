// ComputeTask: the request that executes a model. A unit owns its tasks and reuses them; fill()
// prepares one for the next request.
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

#include "nrt/counters/process_counters.h"
#include "nrt/requests/binding.h"
#include "nrt/requests/execution_checks.h"
#include "nrt/requests/request_task.h"
#include "runtime/jobs/job_mode.h"
#include "runtime/jobs/job_sync.h"

namespace millrace::nrt {

class ComputeTask final : public RequestTask {
 public:
  // A request that runs longer than `time_limit` ends with kHung at its next operator. One that
  // does not reach its next operator is given up by the watchdog. In the mode kThroughput an
  // execution uses no helper lanes.
  //
  // `scratch` holds the copies of shared inputs (SharedInput) and grows to the largest size needed.
  // All tasks of a unit share it, since a unit runs one request at a time.
  ComputeTask(const UnitContext& unit, std::chrono::nanoseconds time_limit,
              const ExecutionChecks& checks, runtime::JobMode mode,
              std::shared_ptr<std::vector<std::byte>> scratch)
      : RequestTask(unit),
        counters_(ProcessCounters::of_process().of_core(address_with(unit.number).core)),
        time_limit_(time_limit),
        checks_(checks),
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
  Status examine_outputs() const noexcept;
  void examine_failure(const Status& status, queue::RunControl& control) const noexcept;
  Status copy_shared_inputs() noexcept;
  std::span<const runtime::TensorBinding> inputs() const noexcept;

  CoreCounters& counters_;
  const std::chrono::nanoseconds time_limit_;
  const ExecutionChecks checks_;
  const runtime::JobMode mode_;
  std::shared_ptr<const Binding> binding_;
  std::atomic<bool> ran_{false};  // the job was passed to the executor
  // Used if there are shared inputs: the memory of their copies, and the inputs with the copies in
  // place of the originals.
  const std::shared_ptr<std::vector<std::byte>> scratch_;
  std::vector<runtime::TensorBinding> inputs_;
  const runtime::JobSync sync_;
};

}  // namespace millrace::nrt
