// A gather in which each output index moves by an offset of its own dimension. Dimensions that are
// copied whole are folded into the element, and the innermost dimension left is copied in runs of
// contiguous elements; the outer ones are counted.
#include "device/cpu/kernels/movement/mapped_copy.h"

#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include "device/cpu/kernels/elements.h"
#include "tensor/half.h"

namespace millrace::device::cpu::kernels {
namespace {

// Copies a tensor row by row, and a row run by run.
class MappedCopyStep final : public Step {
 public:
  struct Run {
    int64_t from;  // kFill for the fill value
    size_t bytes;
  };

  MappedCopyStep(BufferId from, BufferId to, CopyMap map, size_t element, uint64_t fill)
      : from_(from), to_(to), element_(element), fill_(fill) {
    // Innermost dimensions that are copied whole become part of the element.
    while (map.size() > 1 && is_contiguous(map.back())) {
      block_ *= map.back().size();
      map.pop_back();
    }
    row_ = runs_of(map.back());
    map.pop_back();
    outer_ = std::move(map);
    for (const Run& run : row_) row_bytes_ += run.bytes;
  }

  std::vector<BufferId> buffers() const override { return {from_, to_}; }

  Status run(const RunState& state) const noexcept override {
    const std::byte* from = state.buffers[from_];
    std::byte* to = state.buffers[to_];
    std::array<size_t, DNNL_MAX_NDIMS> index{};
    do {
      copy_row(from, to, base_of(index));
      to += row_bytes_;
    } while (advance(index));
    return {};
  }

 private:
  bool is_contiguous(const std::vector<int64_t>& offsets) const {
    for (size_t i = 0; i < offsets.size(); ++i)
      if (offsets[i] != static_cast<int64_t>(i * block_)) return false;
    return true;
  }

  std::vector<Run> runs_of(const std::vector<int64_t>& offsets) const {
    const auto block = static_cast<int64_t>(block_);
    std::vector<Run> runs;
    for (size_t i = 0; i < offsets.size(); ++i) {
      const bool fill = offsets[i] == kFill;
      const bool follows =
          i > 0 && (fill ? offsets[i - 1] == kFill
                         : offsets[i - 1] != kFill && offsets[i] == offsets[i - 1] + block);
      if (!follows) runs.push_back({fill ? kFill : offsets[i] * signed_element(), 0});
      runs.back().bytes += block_ * element_;
    }
    return runs;
  }

  int64_t signed_element() const { return static_cast<int64_t>(element_); }

  // Returns the offset of the outer indices in the input in bytes, or kFill if one of them is
  // filled.
  int64_t base_of(const std::array<size_t, DNNL_MAX_NDIMS>& index) const noexcept {
    int64_t base = 0;
    for (size_t i = 0; i < outer_.size(); ++i) {
      const int64_t offset = outer_[i][index[i]];
      if (offset == kFill) return kFill;
      base += offset * signed_element();
    }
    return base;
  }

  bool advance(std::array<size_t, DNNL_MAX_NDIMS>& index) const noexcept {
    for (size_t i = outer_.size(); i-- > 0;) {
      if (++index[i] < outer_[i].size()) return true;
      index[i] = 0;
    }
    return false;
  }

  void copy_row(const std::byte* from, std::byte* to, int64_t base) const noexcept {
    if (base == kFill) return fill(to, row_bytes_);
    for (const Run& run : row_) {
      if (run.from == kFill)
        fill(to, run.bytes);
      else
        copy(from + base + run.from, to, run.bytes);
      to += run.bytes;
    }
  }

  // Runs of single elements are common, in slices with steps, and too small for a call.
  static void copy(const std::byte* from, std::byte* to, size_t bytes) noexcept {
    if (bytes == 4)
      std::memcpy(to, from, 4);
    else if (bytes == 2)
      std::memcpy(to, from, 2);
    else
      std::memcpy(to, from, bytes);
  }

  void fill(std::byte* to, size_t bytes) const noexcept {
    for (size_t i = 0; i < bytes; i += element_) std::memcpy(to + i, &fill_, element_);
  }

  BufferId from_, to_;
  size_t element_, block_ = 1, row_bytes_ = 0;
  uint64_t fill_;  // the bits of one element, lowest first
  CopyMap outer_;
  std::vector<Run> row_;
};

template <class T>
uint64_t integer_bits(float value) {
  return static_cast<uint64_t>(to_integer<T>(value));
}

// Returns the bits of `value` in a type that the device keeps as it is: an integer, a BOOLEAN or a
// FLOAT64.
uint64_t kept_bits_of(tensor::DataType type, float value) {
  using tensor::DataType;
  switch (type) {
    case DataType::kInt8:
      return integer_bits<int8_t>(value);
    case DataType::kUint8:
      return integer_bits<uint8_t>(value);
    case DataType::kInt16:
      return integer_bits<int16_t>(value);
    case DataType::kUint16:
      return integer_bits<uint16_t>(value);
    case DataType::kInt32:
      return integer_bits<int32_t>(value);
    case DataType::kUint32:
      return integer_bits<uint32_t>(value);
    case DataType::kInt64:
      return integer_bits<int64_t>(value);
    case DataType::kUint64:
      return integer_bits<uint64_t>(value);
    case DataType::kFloat64:
      return std::bit_cast<uint64_t>(static_cast<double>(value));
    default:
      return value != 0 ? 1 : 0;
  }
}

// Returns the bits of `value` in the type that the tensor `id` has on this device.
uint64_t bits_of(const Builder& builder, graph::ValueId id, float value) {
  if (!builder.is_floating(id)) return kept_bits_of(builder.value(id).type, value);
  if (builder.type() == ElementType::bf16) return tensor::float_to_bf16(value);
  return std::bit_cast<uint32_t>(value);
}

}  // namespace

Dims plain_strides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

std::vector<int64_t> index_range(int64_t begin, int64_t count, int64_t step, int64_t stride) {
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < count; ++i) offsets.push_back((begin + i * step) * stride);
  return offsets;
}

CopyMap transposed(const Dims& input, const Dims& permutation) {
  const Dims strides = plain_strides(input);
  CopyMap map;
  for (int64_t axis : permutation) {
    const auto from = static_cast<size_t>(axis);
    map.push_back(index_range(0, input[from], 1, strides[from]));
  }
  return map;
}

Result<Operand> add_mapped_copy(Builder& builder, const char* operation, graph::ValueId x,
                                CopyMap map, float fill) {
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, builder.plain(x));
  Dims dims;
  for (const std::vector<int64_t>& offsets : map)
    dims.push_back(static_cast<int64_t>(offsets.size()));
  const size_t element = builder.element_size(x);
  const Operand to = builder.new_temporary(
      builder.is_floating(x)
          ? plain_desc(dims, builder.type())
          : bytes_desc(element * static_cast<size_t>(std::accumulate(
                                     dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()))));
  builder.add(operation, "millrace:mapped_copy",
              std::make_unique<MappedCopyStep>(from.buffer, to.buffer, std::move(map), element,
                                               bits_of(builder, x, fill)));
  return to;
}

Status add_mapped_copy(Builder& builder, const char* operation, graph::ValueId x, graph::ValueId y,
                       CopyMap map, float fill) {
  MILLRACE_ASSIGN_OR_RETURN(const Operand result,
                            add_mapped_copy(builder, operation, x, std::move(map), fill));
  builder.set_result(y, result);
  return {};
}

}  // namespace millrace::device::cpu::kernels
