#include "runtime/jobs/job_shapes.h"

#include <span>

namespace millrace::runtime {

void JobShapes::copy(const JobBindings& bindings) {
  const size_t count = bindings.open_inputs.size() + bindings.open_outputs.size();
  open_.reserve(count);
  wanted_.reserve(bindings.open_outputs.size());
  shapes_.assign(count, {});  // to the final size, before addresses are taken
  TensorShape* shape = shapes_.data();
  for (const OpenTensor& input : bindings.open_inputs) {
    if (input.shape != nullptr) *shape = *input.shape;
    open_.push_back({input.bytes, shape++});
  }
  for (const OpenTensor& output : bindings.open_outputs) {
    open_.push_back({output.bytes, shape++});
    wanted_.push_back(output.shape);
  }
}

void JobShapes::bind(JobBindings& bindings) const noexcept {
  const std::span<const OpenTensor> all(open_);
  bindings.open_inputs = all.first(all.size() - wanted_.size());
  bindings.open_outputs = all.last(wanted_.size());
}

void JobShapes::write() const noexcept {
  if (!stated_.load(std::memory_order_acquire)) return;
  const TensorShape* stated = shapes_.data() + (shapes_.size() - wanted_.size());
  for (TensorShape* const wanted : wanted_) {
    if (wanted != nullptr) *wanted = *stated;
    ++stated;
  }
}

void JobShapes::drop() noexcept {
  shapes_.clear();
  open_.clear();
  wanted_.clear();
  stated_.store(false, std::memory_order_relaxed);
}

}  // namespace millrace::runtime
