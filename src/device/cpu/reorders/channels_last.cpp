#include "device/cpu/reorders/channels_last.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "device/cpu/reorders/channels_last_loops.h"
#include "device/cpu/steps/parts.h"

namespace millrace::device::cpu::reorders::channels_last {
namespace {

constexpr size_t kChannelDim = 1;

// Position of the channels of an image in memory, in elements.
struct Position {
  size_t start, pixel_distance, channel_distance;
};

// Returns the distance between pixels, if it is the same between all neighbours in memory and the
// dimensions other than the channels lie in their order.
std::optional<size_t> pixel_distance(const Dims& dims, const Dims& strides) {
  std::optional<int64_t> least;
  int64_t next = 0;  // the stride of the next dimension further out
  for (size_t dim = dims.size(); dim-- > 0;) {
    if (dim == kChannelDim || dims[dim] == 1) continue;
    if (least && strides[dim] != next) return std::nullopt;
    if (!least) least = strides[dim];
    next = strides[dim] * dims[dim];
  }
  return least ? std::optional(static_cast<size_t>(*least)) : std::nullopt;
}

std::optional<Position> position_of(const Desc& desc) {
  const Dims dims = desc.dims();
  if (dims.size() <= kChannelDim) return std::nullopt;
  const auto strides = strides_of(desc);
  if (!strides) return std::nullopt;
  const auto distance = pixel_distance(dims, *strides);
  if (!distance) return std::nullopt;
  return Position{static_cast<size_t>(start_of(desc)), *distance,
                  static_cast<size_t>((*strides)[kChannelDim])};
}

// The arguments of the loops, in elements of `element` bytes.
struct Plan {
  size_t element;
  bool is_every_other, takes_second;
  size_t from_start, to_start;
  Pixels pixels;
};

// Returns nothing if the loops cannot move the image, or would read half a pair that is not there.
std::optional<Plan> plan_for(const Operand& from, const Operand& to) {
  const auto source = position_of(from.desc), target = position_of(to.desc);
  const Dims dims = from.desc.dims();
  if (!source || !target || from.desc.data_type() != to.desc.data_type() ||
      target->channel_distance != 1 ||
      (source->channel_distance != 1 && source->channel_distance != 2))
    return std::nullopt;
  const size_t channels = static_cast<size_t>(dims[kChannelDim]);
  if (source->pixel_distance < channels || target->pixel_distance < channels) return std::nullopt;
  size_t pixels = 1;
  for (size_t dim = 0; dim < dims.size(); ++dim)
    if (dim != kChannelDim) pixels *= static_cast<size_t>(dims[dim]);
  Plan plan{dnnl::memory::data_type_size(from.desc.data_type()),
            source->channel_distance == 2,
            false,
            source->start,
            target->start,
            {pixels, source->pixel_distance, target->pixel_distance, channels}};
  if (channels * plan.element < kLeastBytes) return std::nullopt;
  if (!plan.is_every_other) return plan;
  const size_t distance = plan.pixels.from_distance;
  plan.takes_second = plan.from_start % 2 != 0;
  if (plan.takes_second) --plan.from_start;
  const bool has_pairs = distance % 2 == 0 && plan.from_start % distance + 2 * channels <= distance;
  return has_pairs && plan.element <= sizeof(uint32_t) ? std::optional(plan) : std::nullopt;
}

class ChannelsLastStep final : public Step {
 public:
  ChannelsLastStep(BufferId from, BufferId to, const Plan& plan, uint32_t chunks)
      : from_(from),
        to_(to),
        plan_(plan),
        parts_(static_cast<uint32_t>(std::min<size_t>(chunks, plan.pixels.count))) {}
  std::vector<BufferId> buffers() const override { return {from_, to_}; }

  Status run(const RunState& state) const noexcept override {
    const auto* const from = state.input<uint8_t>(from_);
    auto* const to = state.output<uint8_t>(to_);
    run_parts(state, parts_, [=, this](uint32_t number) {
      move(from, to, share_of(plan_.pixels.count, number, parts_));
    });
    return {};
  }

 private:
  void move(const uint8_t* from, uint8_t* to, const Share& share) const noexcept {
    Pixels pixels = plan_.pixels;
    pixels.count = share.count;
    from += (plan_.from_start + share.first * pixels.from_distance) * plan_.element;
    to += (plan_.to_start + share.first * pixels.to_distance) * plan_.element;
    if (plan_.is_every_other) {
      if (plan_.element == sizeof(uint8_t)) return take<uint8_t>(from, to, pixels);
      if (plan_.element == sizeof(uint16_t)) return take<uint16_t>(from, to, pixels);
      return take<uint32_t>(from, to, pixels);
    }
    pixels.from_distance *= plan_.element;
    pixels.to_distance *= plan_.element;
    pixels.channels *= plan_.element;
    copy(from, to, pixels);
  }

  template <class Element>
  void take(const uint8_t* from, uint8_t* to, const Pixels& pixels) const noexcept {
    take_every_other(reinterpret_cast<const Element*>(from), plan_.takes_second,
                     reinterpret_cast<Element*>(to), pixels);
  }

  const BufferId from_, to_;
  const Plan plan_;
  const uint32_t parts_;
};

}  // namespace

std::unique_ptr<const Step> reorder_step(const Operand& from, const Operand& to, uint32_t chunks) {
  const auto plan = plan_for(from, to);
  if (!plan) return nullptr;
  return std::make_unique<ChannelsLastStep>(from.buffer, to.buffer, *plan, chunks);
}

}  // namespace millrace::device::cpu::reorders::channels_last
