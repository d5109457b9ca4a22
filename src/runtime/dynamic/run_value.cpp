// Slices and joins of values. A tensor is treated as `outer` groups of blocks along one axis
// (AxisBlocks), so both are loops over memcpy.
#include "runtime/dynamic/run_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "graph/shape.h"

namespace millrace::runtime {
namespace {

// The alignment of memory in the HW view, a cache line, which suits vector instructions.
constexpr std::align_val_t kAlignment{64};

std::shared_ptr<std::byte> allocate(size_t bytes) {
  // A value without elements has a valid address, too.
  void* const memory = ::operator new(std::max<size_t>(bytes, 1), kAlignment, std::nothrow);
  if (memory == nullptr) return nullptr;
  return {static_cast<std::byte*>(memory),
          [](std::byte* data) { ::operator delete(data, kAlignment); }};
}

// A tensor seen along one of its dimensions: `outer` is the product of the dimensions before it,
// and `inner` the bytes of one index.
struct AxisBlocks {
  size_t outer = 1;
  size_t inner = 1;
};

AxisBlocks blocks_around(std::span<const int64_t> shape, size_t before, size_t after,
                         size_t element_bytes) {
  return {fallback::element_count(shape.first(before)),
          fallback::element_count(shape.subspan(after)) * element_bytes};
}

}  // namespace

Result<RunValue> allocate_value(tensor::DataType type, graph::Dims shape) {
  MILLRACE_RETURN_IF_ERROR(graph::check_shape(shape));
  RunValue value;
  value.type = type;
  value.shape = std::move(shape);
  const std::shared_ptr<std::byte> memory = allocate(value.bytes());
  if (memory == nullptr)
    return Status(StatusCode::kOutOfMemory,
                  fmt::format("no memory for a value of {} bytes", value.bytes()));
  value.data = memory.get();
  value.owner = memory;
  return value;
}

Result<RunValue> int64_value(int64_t element) {
  MILLRACE_ASSIGN_OR_RETURN(RunValue value, allocate_value(tensor::DataType::kInt64, {}));
  std::memcpy(value.data, &element, sizeof element);
  return value;
}

Result<RunValue> boolean_value(bool element) {
  MILLRACE_ASSIGN_OR_RETURN(RunValue value, allocate_value(tensor::DataType::kBoolean, {}));
  *value.data = std::byte{element};
  return value;
}

RunValue constant_value(const graph::Value& constant, Lasts lasts) {
  // The const_cast is safe, since the elements of an existing value are never written.
  return {constant.type, constant.shape, const_cast<std::byte*>(constant.constant->bytes.data()),
          constant.constant->owner, lasts};
}

Result<int64_t> read_int64(const RunValue& value, const char* what) {
  if (value.type != tensor::DataType::kInt64 || value.elements() != 1)
    return invalid_argument(fmt::format("{} is {} {}, not one INT64", what,
                                        tensor::to_string(value.type),
                                        graph::to_string(value.shape)));
  return *value.as<int64_t>();
}

Result<bool> read_boolean(const RunValue& value, const char* what) {
  if (value.type != tensor::DataType::kBoolean || value.elements() != 1)
    return invalid_argument(fmt::format("{} is {} {}, not one BOOLEAN", what,
                                        tensor::to_string(value.type),
                                        graph::to_string(value.shape)));
  return *value.data != std::byte{0};
}

Result<RunValue> take_range(const RunValue& value, size_t axis, size_t begin, size_t count) {
  const auto [outer, inner] =
      blocks_around(value.shape, axis, axis + 1, tensor::size_of(value.type));
  graph::Dims shape = value.shape;
  const auto all = static_cast<size_t>(std::exchange(shape[axis], static_cast<int64_t>(count)));
  if (outer == 1)
    return RunValue{value.type, std::move(shape), value.data + begin * inner, value.owner};
  MILLRACE_ASSIGN_OR_RETURN(RunValue part, allocate_value(value.type, std::move(shape)));
  for (size_t i = 0; i < outer; ++i)
    std::memcpy(part.data + i * count * inner, value.data + (i * all + begin) * inner,
                count * inner);
  return part;
}

Result<RunValue> take_part(const RunValue& value, size_t axis, size_t index) {
  MILLRACE_ASSIGN_OR_RETURN(RunValue part, take_range(value, axis, index, 1));
  part.shape.erase(part.shape.begin() + static_cast<ptrdiff_t>(axis));
  return part;
}

Result<RunValue> concatenate(std::span<const RunValue> parts, size_t axis) {
  const RunValue& first = parts.front();
  if (first.members != nullptr) return invalid_argument("a sequence cannot be part of a tensor");
  graph::Dims shape = first.shape;
  shape[axis] = 0;
  for (const RunValue& part : parts) {
    graph::Dims other = part.shape;
    const bool alike = part.type == first.type && other.size() == shape.size();
    const int64_t size = alike ? std::exchange(other[axis], shape[axis]) : 0;
    if (!alike || other != shape)
      return invalid_argument(
          fmt::format("{} {} and {} {} cannot be joined", tensor::to_string(first.type),
                      graph::to_string(first.shape), tensor::to_string(part.type),
                      graph::to_string(part.shape)));
    if (__builtin_add_overflow(shape[axis], size, &shape[axis]))
      return invalid_argument("the size of the joined dimension overflows");
  }
  MILLRACE_ASSIGN_OR_RETURN(RunValue joined, allocate_value(first.type, std::move(shape)));
  const auto [outer, inner] =
      blocks_around(joined.shape, axis, axis + 1, tensor::size_of(first.type));
  std::byte* out = joined.data;
  for (size_t i = 0; i < outer; ++i) {
    for (const RunValue& part : parts) {
      const size_t bytes = static_cast<size_t>(part.shape[axis]) * inner;
      if (bytes > 0) std::memcpy(out, part.data + i * bytes, bytes);
      out += bytes;
    }
  }
  return joined;
}

Result<RunValue> join_parts(std::vector<RunValue> parts, size_t axis) {
  for (RunValue& part : parts)
    part.shape.insert(
        part.shape.begin() + static_cast<ptrdiff_t>(std::min(axis, part.shape.size())), 1);
  return concatenate(parts, axis);
}

}  // namespace millrace::runtime
