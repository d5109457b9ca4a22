// RunValue: a tensor that exists while a dynamic program runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "fallback/tensor_view.h"
#include "graph/graph.h"
#include "tensor/data_type.h"

namespace millrace::runtime {

// For how long a value stays as it is: one run, all runs with the same plan so far (the result of a
// Shape), all runs of the program (an initializer).
enum class Lasts : uint8_t { kRun, kPlan, kProgram };

struct RunValue;
using Members = std::vector<std::shared_ptr<const RunValue>>;

// Dense, in C order. Copies share the elements, which nothing changes once they are computed.
struct RunValue {
  tensor::DataType type = tensor::DataType::kUnknown;
  graph::Dims shape;
  std::byte* data = nullptr;
  std::shared_ptr<const void> owner;  // owner of the elements; empty if the job's caller keeps them
  Lasts lasts = Lasts::kRun;
  std::shared_ptr<const Members> members = {};  // null unless this is a sequence, which has no type

  size_t elements() const noexcept { return fallback::element_count(shape); }
  size_t bytes() const noexcept { return elements() * tensor::size_of(type); }
  fallback::TensorView view() const noexcept { return {type, shape, data}; }
  // Requirement: T holds elements of `type`.
  template <class T>
  const T* as() const noexcept {
    return reinterpret_cast<const T*>(data);
  }
};

// A value with memory of its own, whose elements are not set. kInvalidArgument for a shape that no
// tensor can have, kOutOfMemory.
Result<RunValue> allocate_value(tensor::DataType type, graph::Dims shape);

// A scalar.
Result<RunValue> int64_value(int64_t element);
Result<RunValue> boolean_value(bool element);

// A constant, whose elements it shares.
RunValue constant_value(const graph::Value& constant, Lasts lasts);

// The number or truth that a value of one element holds; kInvalidArgument where it is something
// else. `what` names it in the message: "its trip count".
Result<int64_t> read_int64(const RunValue& value, const char* what);
Result<bool> read_boolean(const RunValue& value, const char* what);

// `count` indices of a value along `axis`, from `begin` on. Shares the elements where it can.
// Requirement: there are so many.
Result<RunValue> take_range(const RunValue& value, size_t axis, size_t begin, size_t count);
// Part `index` of a value along `axis`, without that dimension. Shares the elements where it can.
// Requirement: index < value.shape[axis].
Result<RunValue> take_part(const RunValue& value, size_t axis, size_t index);
// The reverse of both: one value of parts that are alike in type and, but for dimension `axis`, in
// shape; and one along a new dimension `axis`, of parts that are alike in type and shape.
// kInvalidArgument where they are not alike. Requirement: there is a part, with such a dimension;
// with at least so many dimensions.
Result<RunValue> concatenate(std::span<const RunValue> parts, size_t axis);
Result<RunValue> join_parts(std::vector<RunValue> parts, size_t axis);

}  // namespace millrace::runtime
