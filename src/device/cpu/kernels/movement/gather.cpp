// Gather, with indices that may be known only when the program runs.
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <optional>

#include "device/cpu/kernels/kernels.h"

namespace millrace::device::cpu::kernels {
namespace {

using graph::ValueId;
using tensor::DataType;

struct Extents {
  size_t outer;      // product of the dimensions before the axis
  size_t axis;       // of the data
  size_t indices;    // how many
  size_t row_bytes;  // what one index selects
};

template <class Index>
class GatherStep final : public Step {
 public:
  GatherStep(BufferId data, BufferId indices, BufferId to, const Extents& extents)
      : data_(data), indices_(indices), to_(to), extents_(extents) {}
  std::vector<BufferId> buffers() const override { return {data_, indices_, to_}; }

  Status run(const RunState& state) const noexcept override {
    const std::byte* data = state.buffers[data_];
    const Index* indices = state.input<Index>(indices_);
    std::byte* to = state.buffers[to_];
    for (size_t outer = 0; outer < extents_.outer; ++outer) {
      for (size_t i = 0; i < extents_.indices; ++i) {
        auto index = static_cast<int64_t>(indices[i]);
        if (index < 0) index += static_cast<int64_t>(extents_.axis);
        if (static_cast<uint64_t>(index) >= extents_.axis) return out_of_range(indices[i]);
        std::memcpy(to, data + static_cast<size_t>(index) * extents_.row_bytes, extents_.row_bytes);
        to += extents_.row_bytes;
      }
      data += extents_.axis * extents_.row_bytes;
    }
    return {};
  }

 private:
  Status out_of_range(Index index) const {
    return invalid_argument(fmt::format("index {} is outside a dimension of {}",
                                        static_cast<int64_t>(index), extents_.axis));
  }

  BufferId data_, indices_, to_;
  Extents extents_;
};

template <class Index>
std::unique_ptr<const Step> make_step(BufferId data, BufferId indices, BufferId to,
                                      const Extents& extents) {
  return std::make_unique<GatherStep<Index>>(data, indices, to, extents);
}

using MakeStep = std::unique_ptr<const Step> (*)(BufferId, BufferId, BufferId, const Extents&);

MakeStep maker_of(DataType type) {
  switch (type) {
    case DataType::kInt8:
      return make_step<int8_t>;
    case DataType::kUint8:
      return make_step<uint8_t>;
    case DataType::kInt16:
      return make_step<int16_t>;
    case DataType::kUint16:
      return make_step<uint16_t>;
    case DataType::kInt32:
      return make_step<int32_t>;
    case DataType::kUint32:
      return make_step<uint32_t>;
    case DataType::kInt64:
      return make_step<int64_t>;
    case DataType::kUint64:
      return make_step<uint64_t>;
    default:
      return nullptr;
  }
}

// Returns the only index, if it is a constant.
std::optional<int64_t> constant_index(const Builder& builder, ValueId indices) {
  const graph::Value& value = builder.value(indices);
  if (!value.constant || value.elements() != 1) return std::nullopt;
  if (value.type == DataType::kInt64) return value.constant->as<int64_t>()[0];
  if (value.type == DataType::kInt32) return value.constant->as<int32_t>()[0];
  return std::nullopt;
}

// Returns a view of the part that a constant index selects, or nothing if the layout cannot be cut
// there.
std::optional<Desc> selected(const Desc& desc, size_t axis, int64_t index, const Dims& result) {
  Dims dims = desc.dims(), offset(dims.size(), 0);
  offset[axis] = index < 0 ? index + dims[axis] : index;
  if (offset[axis] < 0 || offset[axis] >= dims[axis]) return std::nullopt;
  dims[axis] = 1;
  const auto part = submemory(desc, dims, offset);
  return part ? reshaped(*part, result) : std::nullopt;
}

}  // namespace

Status lower(Builder& builder, const Node& node, const graph::Gather& op) {
  const ValueId x = node.input(0), indices = node.input(1), y = node.outputs[0];
  const bool in_layout = builder.is_floating(x) && !builder.is_empty(x);
  if (const auto index = constant_index(builder, indices); index && in_layout) {
    MILLRACE_ASSIGN_OR_RETURN(const Operand location, builder.current(x));
    if (const auto part =
            selected(location.desc, static_cast<size_t>(op.axis), *index, builder.dims(y))) {
      builder.set_result(y, {location.buffer, *part});
      return {};
    }
  }
  const MakeStep make = maker_of(builder.value(indices).type);
  if (make == nullptr) return unsupported("indices that are no integers");
  const Dims dims = builder.dims(x);
  const auto axis = static_cast<size_t>(op.axis);
  Extents extents{1, static_cast<size_t>(dims[axis]), builder.value(indices).elements(),
                  builder.element_size(x)};
  for (size_t i = 0; i < axis; ++i) extents.outer *= static_cast<size_t>(dims[i]);
  for (size_t i = axis + 1; i < dims.size(); ++i) extents.row_bytes *= static_cast<size_t>(dims[i]);
  MILLRACE_ASSIGN_OR_RETURN(const Operand data, builder.plain(x));
  MILLRACE_ASSIGN_OR_RETURN(const Operand index, builder.plain(indices));
  const Operand to = builder.new_result(y, builder.plain_layout(y));
  builder.add("Gather", "millrace:gather", make(data.buffer, index.buffer, to.buffer, extents));
  return {};
}

}  // namespace millrace::device::cpu::kernels
