#include "device/cpu/reorders/layout_copy.h"

#include <vector>

#include "device/cpu/dnnl/reorder.h"

namespace millrace::device::cpu::reorders {
namespace {

class LayoutCopyStep final : public Step {
 public:
  LayoutCopyStep(const Operand& from, const Operand& to)
      : copy_(from.desc, to.desc), from_(from.buffer), to_(to.buffer) {}
  std::vector<BufferId> buffers() const override { return {from_, to_}; }
  Status run(const RunState& state) const noexcept override {
    copy_.run(state.input<std::byte>(from_), state.output<std::byte>(to_));
    return {};
  }

 private:
  const LayoutCopy copy_;
  const BufferId from_, to_;
};

}  // namespace

std::unique_ptr<const Step> layout_copy_step(const Operand& from, const Operand& to) {
  return std::make_unique<LayoutCopyStep>(from, to);
}

}  // namespace millrace::device::cpu::reorders
