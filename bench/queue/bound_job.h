// BoundJob: memory for the tensors of one frame of a model, and the bindings of a job (core API).
// Every tensor is bound in the view that no device has to convert.
#pragma once

#include <cstddef>
#include <vector>

#include "graph/compiled_model.h"
#include "runtime/jobs/job.h"

namespace millrace::bench {

class BoundJob {
 public:
  explicit BoundJob(const graph::CompiledModel& model) {
    for (const graph::Boundary& boundary : model.inputs) inputs_.push_back(bind(boundary));
    for (const graph::Boundary& boundary : model.outputs) outputs_.push_back(bind(boundary));
  }

  runtime::JobBindings bindings() const { return {1, inputs_, outputs_}; }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };

  runtime::TensorBinding bind(const graph::Boundary& boundary) {
    const size_t bytes = (boundary.hw ? *boundary.hw : boundary.cpu).bytes();
    memory_.emplace_back((bytes + sizeof(Line) - 1) / sizeof(Line));
    const auto view = boundary.hw ? device::View::kHw : device::View::kCpu;
    return {memory_.back().data(), view, nullptr};
  }

  std::vector<std::vector<Line>> memory_;
  std::vector<runtime::TensorBinding> inputs_, outputs_;
};

}  // namespace millrace::bench
