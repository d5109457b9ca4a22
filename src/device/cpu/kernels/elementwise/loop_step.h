// Steps that run a loop over all elements of a tensor. Idle lanes can take parts of such a step.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/bounds.h"
#include "device/cpu/kernels/elements.h"
#include "device/cpu/steps/parts.h"

namespace millrace::device::cpu::kernels {

// Returns the number of elements of a dense tensor, with its padding.
inline size_t elements_in_memory(const Desc& desc) {
  return desc.get_size() / dnnl::memory::data_type_size(desc.data_type());
}

// Calls loop(from, to, count) on runs of elements of the type T.
template <class T, class Loop>
class LoopStep final : public Step {
 public:
  LoopStep(BufferId from, BufferId to, size_t count, uint32_t parts, Loop loop)
      : from_(from),
        to_(to),
        count_(count),
        parts_(static_cast<uint32_t>(std::clamp<size_t>(count / kLeast, 1, parts))),
        loop_(std::move(loop)) {}
  std::vector<BufferId> buffers() const override { return {from_, to_}; }
  Status run(const RunState& state) const noexcept override {
    const T* const from = state.input<T>(from_);
    T* const to = state.output<T>(to_);
    run_parts(state, parts_, [=, this](uint32_t number) {
      const Share share = share_of((count_ + kLeast - 1) / kLeast, number, parts_);
      const size_t first = share.first * kLeast;
      loop_(from + first, to + first, std::min(share.count * kLeast, count_ - first));
    });
    return {};
  }

 private:
  // Parts begin at cache lines.
  static constexpr size_t kLeast = 64;
  const BufferId from_, to_;
  const size_t count_;
  const uint32_t parts_;
  const Loop loop_;
};

// Keeps elements between the bounds, which are numbers. `from` and `to` are dense, with one layout.
std::unique_ptr<const Step> make_bounds_step(const Builder& builder, const Bounds& bounds,
                                             const Operand& from, const Operand& to);

}  // namespace millrace::device::cpu::kernels
