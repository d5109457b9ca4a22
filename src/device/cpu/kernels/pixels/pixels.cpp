#include "device/cpu/kernels/pixels/pixels.h"

#include <algorithm>
#include <array>
#include <vector>

#include "device/cpu/kernels/parts.h"
#include "device/cpu/kernels/pixels/compact.h"

namespace millrace::device::cpu::kernels::pixels {
namespace {

class CompactStep final : public Step {
 public:
  CompactStep(BufferId from, BufferId to, size_t pixels, uint32_t chunks)
      : from_(from),
        to_(to),
        pixels_(pixels),
        parts_(static_cast<uint32_t>(std::min<size_t>(chunks, pixels))) {}
  std::vector<BufferId> buffers() const override { return {from_, to_}; }

  Status run(const RunState& state) const noexcept override {
    Whole whole{this, state.input<uint16_t>(from_), state.output<uint16_t>(to_)};
    run_parts(state, parts_, run_part, &whole);
    return {};
  }

 private:
  struct Whole {
    const CompactStep* step;
    const uint16_t* from;
    uint16_t* to;
  };

  static void run_part(void* data, uint32_t number) {
    const auto& [step, from, to] = *static_cast<const Whole*>(data);
    const Share share = share_of(step->pixels_, number, step->parts_);
    compact(from + share.first * kRoom, to + share.first * kChannels, share.count);
  }

  const BufferId from_, to_;
  const size_t pixels_;
  const uint32_t parts_;
};

}  // namespace

std::unique_ptr<const Step> reorder_step(const Operand& from, const Operand& to, uint32_t chunks) {
  constexpr std::array<uint32_t, 4> kInnermost = {0, 2, 3, 1};
  const Dims dims = from.desc.dims();
  if (dims.size() != 4 || dims[0] != 1 || dims[1] != static_cast<int64_t>(kChannels) ||
      from.desc != hcwnc_desc(dims, ElementType::bf16, kRoom) ||
      to.desc != ordered_desc(dims, ElementType::bf16, kInnermost))
    return nullptr;
  return std::make_unique<CompactStep>(from.buffer, to.buffer,
                                       static_cast<size_t>(dims[2] * dims[3]), chunks);
}

}  // namespace millrace::device::cpu::kernels::pixels
