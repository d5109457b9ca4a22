#include "device/cpu/reorders/rgbx.h"

#include <algorithm>
#include <vector>

#include "device/cpu/reorders/rgbx_loops.h"
#include "device/cpu/steps/parts.h"

namespace millrace::device::cpu::reorders::rgbx {
namespace {

// Moves `count` of the pixels, from the one with the number `first` on.
template <class Element>
using Move = void (*)(const Element* from, Element* to, size_t pixels, size_t first, size_t count);

void compact_some(const uint16_t* from, uint16_t* to, size_t, size_t first, size_t count) {
  compact(from + first * kRoom, to + first * kChannels, count);
}

void split_some(const float* from, float* to, size_t pixels, size_t first, size_t count) {
  split(from + first * kRoom, to + first, pixels, count);
}

template <class Element, Move<Element> kMove>
class RgbxStep final : public Step {
 public:
  RgbxStep(BufferId from, BufferId to, size_t pixels, uint32_t chunks)
      : from_(from),
        to_(to),
        pixels_(pixels),
        parts_(static_cast<uint32_t>(std::min<size_t>(chunks, pixels))) {}
  std::vector<BufferId> buffers() const override { return {from_, to_}; }

  Status run(const RunState& state) const noexcept override {
    const auto* const from = state.input<Element>(from_);
    auto* const to = state.output<Element>(to_);
    run_parts(state, parts_, [=, this](uint32_t number) {
      const Share share = share_of(pixels_, number, parts_);
      kMove(from, to, pixels_, share.first, share.count);
    });
    return {};
  }

 private:
  const BufferId from_, to_;
  const size_t pixels_;
  const uint32_t parts_;
};

}  // namespace

std::unique_ptr<const Step> reorder_step(const Operand& from, const Operand& to, uint32_t chunks) {
  const Dims dims = from.desc.dims();
  const ElementType type = from.desc.data_type();
  if (dims.size() != 4 || dims[0] != 1 || dims[1] != static_cast<int64_t>(kChannels) ||
      from.desc != hcwnc_desc(dims, type, kRoom))
    return nullptr;
  const auto pixels = static_cast<size_t>(dims[2] * dims[3]);
  if (type == ElementType::bf16 && to.desc == channels_last_desc(dims, type))
    return std::make_unique<RgbxStep<uint16_t, compact_some>>(from.buffer, to.buffer, pixels,
                                                              chunks);
  if (type == ElementType::f32 && to.desc == plain_desc(dims, type))
    return std::make_unique<RgbxStep<float, split_some>>(from.buffer, to.buffer, pixels, chunks);
  return nullptr;
}

}  // namespace millrace::device::cpu::reorders::rgbx
