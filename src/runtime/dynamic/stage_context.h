// StageContext: the context and staging memory with which one lane runs the program of a plan.
#pragma once

#include <list>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "memory/buffer.h"
#include "runtime/dynamic/plan.h"
#include "runtime/dynamic/run_value.h"
#include "runtime/jobs/boundary.h"

namespace millrace::runtime {

// Not thread-safe: belongs to one lane.
class StageContext {
 public:
  // Requirement: the plan has a program.
  static Result<std::unique_ptr<StageContext>> create(std::shared_ptr<const Plan> plan);

  const Plan& plan() const noexcept { return *plan_; }
  // Runs the program. `inputs` and `outputs` have one value per input and output of the plan, in
  // its order. The memory of outputs is already allocated.
  Status run(std::span<const RunValue> inputs, std::span<const RunValue> outputs,
             queue::RunControl& control);

 private:
  // One boundary tensor of the program.
  struct Slot {
    Boundary boundary;
    memory::Buffer staging = {};
  };

  explicit StageContext(std::shared_ptr<const Plan> plan) noexcept : plan_(std::move(plan)) {}
  Status prepare();

  const std::shared_ptr<const Plan> plan_;
  std::unique_ptr<device::Context> context_;
  std::vector<Slot> inputs_, outputs_;
  std::vector<device::Binding> input_bindings_, output_bindings_;
};

// The contexts of one lane, by plan. It has a bounded capacity with least-recently-used eviction,
// and keeps the plans of its contexts alive.
class StageContexts {
 public:
  explicit StageContexts(size_t capacity) noexcept : capacity_(capacity) {}

  // Returns the context of the plan, created on first use. It is valid until the next call.
  Result<StageContext*> of(const std::shared_ptr<const Plan>& plan);

 private:
  const size_t capacity_;
  std::list<std::unique_ptr<StageContext>> contexts_;  // the most recently used first
};

}  // namespace millrace::runtime
