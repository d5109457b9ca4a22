// StageContext: what one lane needs to run the program of a plan.
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

// Used by one thread at a time.
class StageContext {
 public:
  // Requirement: the plan has a program.
  static Result<std::unique_ptr<StageContext>> create(std::shared_ptr<const Plan> plan);

  const Plan& plan() const noexcept { return *plan_; }
  // Runs the program. One value per input and output of the plan, in its order; those of outputs
  // have memory already.
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

// The contexts of one lane. Bounded like the plans themselves; keeps the plans of its contexts.
class StageContexts {
 public:
  explicit StageContexts(size_t capacity) noexcept : capacity_(capacity) {}

  // Returns the context of the plan, made on first use. It is valid until the next call.
  Result<StageContext*> of(const std::shared_ptr<const Plan>& plan);

 private:
  const size_t capacity_;
  std::list<std::unique_ptr<StageContext>> contexts_;  // the last one used first
};

}  // namespace millrace::runtime
