// Requantise: between bytes by a table, and from floating point elements to the bytes that
// convolutions read.
#include <algorithm>
#include <memory>
#include <variant>

#include "device/cpu/builder/boundary.h"
#include "device/cpu/kernels/quantised/image.h"
#include "device/cpu/kernels/quantised/parameters.h"
#include "device/cpu/kernels/quantised/quantised.h"
#include "device/cpu/kernels/quantised/table.h"
#include "tensor/conversion/kernels.h"

namespace millrace::device::cpu::kernels::quantised {
namespace {

using graph::ValueId;
using tensor::BlockKernels;

// Quantises an image in C order to pixels of four channels.
class PackStep final : public Step {
 public:
  PackStep(BlockKernels::Pack pack, const tensor::ElementRule& rule, size_t channels, size_t pixels,
           BufferId from, BufferId to)
      : pack_(pack), rule_(rule), channels_(channels), pixels_(pixels), from_(from), to_(to) {}
  std::vector<BufferId> buffers() const override { return {from_, to_}; }
  Status run(const RunState& state) const noexcept override {
    pack_(state.buffers[from_], pixels_, channels_, state.buffers[to_], pixels_, rule_);
    return {};
  }

 private:
  const BlockKernels::Pack pack_;
  const tensor::ElementRule rule_;
  const size_t channels_, pixels_;
  const BufferId from_, to_;
};

// Whether a convolution reads the value as an image of few channels.
bool is_read_as_pixels(const Builder& builder, ValueId id) {
  for (const uint32_t reader : builder.readers(id)) {
    const Node& node = builder.model().graph.nodes[reader];
    const auto* conv = std::get_if<graph::Conv>(&node.op);
    if (conv != nullptr && node.input(0) == id && conv->group == 1) return true;
  }
  return false;
}

Result<bool> pack_pixels(Builder& builder, ValueId x, ValueId y) {
  const Dims dims = builder.dims(y);
  const auto rule = rule_of(builder, y);
  const auto pack = tensor::block_kernels(builder.value(y).type, kPixelChannels).pack;
  if (!rule || pack == nullptr || !is_image_of_pixels(dims) || !is_read_as_pixels(builder, y))
    return false;
  const size_t pixels = static_cast<size_t>(dims[2]) * static_cast<size_t>(dims[3]);
  if (pixels < BlockKernels::kMinPixels || builder.type() != ElementType::f32) return false;
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, builder.plain(x));
  const Operand to = builder.new_stored_result(y, pixels_desc(dims, builder.stored_type(y)));
  builder.add("Quantise", "millrace:rgbx",
              std::make_unique<PackStep>(pack, *rule, static_cast<size_t>(dims[1]), pixels,
                                         from.buffer, to.buffer));
  return true;
}

// Lowers the Requantise of an input whose callers give exactly these bytes, or those of the
// vendor's form.
Result<bool> take_bytes(Builder& builder, ValueId x, ValueId y) {
  const auto index = builder.input_of(x);
  if (!index) return false;
  const graph::Boundary& input = builder.model().inputs[*index];
  if (can_requantise(builder, input, y)) {
    MILLRACE_RETURN_IF_ERROR(bind_requantised(builder, *index, y));
    return true;
  }
  const auto desc = desc_of_bytes(builder, input, y);
  if (desc) builder.set_stored_result(y, bind_bytes(builder, *index, *desc));
  return desc.has_value();
}

// Lowers the Requantise of an output whose callers take exactly these bytes, or those of the
// vendor's form.
bool give_bytes(Builder& builder, ValueId x, ValueId y) {
  if (!builder.is_output(y) || !builder.readers(y).empty()) return false;
  const auto is_y = [y](const graph::Boundary& output) { return output.value == y; };
  const auto output = std::ranges::find_if(builder.model().outputs, is_y);
  if (can_requantise(builder, *output, x)) {
    builder.deliver_as(y, x);
    return true;
  }
  const auto desc = desc_of_bytes(builder, *output, x);
  // Reorders leave zeros beside the channels, and the number zero is the zero point.
  if (!desc || (has_padding(*desc) && builder.quantisation(x).zero_points[0] != 0)) return false;
  builder.deliver_as(y, x);
  return true;
}

}  // namespace

Result<bool> lower(Builder& builder, const Node& node, const graph::Requantise&) {
  const ValueId x = node.input(0), y = node.outputs[0];
  if (!builder.is_quantised(x)) {
    MILLRACE_ASSIGN_OR_RETURN(const bool taken, take_bytes(builder, x, y));
    if (taken) return true;
    return pack_pixels(builder, x, y);
  }
  if (!builder.is_quantised(y)) return give_bytes(builder, x, y);
  if (!rule_of(builder, x) || !rule_of(builder, y)) return false;
  MILLRACE_ASSIGN_OR_RETURN(const Operand integers, stored_as(builder, x, y));
  builder.set_stored_result(y, integers);
  return true;
}

}  // namespace millrace::device::cpu::kernels::quantised
