// RunValue: a tensor, or a sequence of tensors, that exists while a dynamic program runs; and
// functions that make, read, split and join such values.
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

// The runs for which a value stays the same: one run; all runs with the same plans up to there
// (such as the result of Shape); or all runs of the program (an initializer).
enum class Lasts : uint8_t { kRun, kPlan, kProgram };

struct RunValue;
using Members = std::vector<std::shared_ptr<const RunValue>>;

// Elements are dense, in C order. Copies of a RunValue share them; they are immutable once
// computed.
struct RunValue {
  tensor::DataType type = tensor::DataType::kUnknown;
  graph::Dims shape;
  std::byte* data = nullptr;
  std::shared_ptr<const void> owner;  // owner of the elements; empty if the job's caller owns them
  Lasts lasts = Lasts::kRun;
  std::shared_ptr<const Members> members = {};  // the tensors of a sequence; null for a tensor

  size_t elements() const noexcept { return fallback::element_count(shape); }
  size_t bytes() const noexcept { return elements() * tensor::size_of(type); }
  fallback::TensorView view() const noexcept { return {type, shape, data}; }
  // Requirement: T holds elements of `type`.
  template <class T>
  const T* as() const noexcept {
    return reinterpret_cast<const T*>(data);
  }
};

// Returns a value with its own memory, whose elements are not initialised. kInvalidArgument for an
// invalid shape, kOutOfMemory.
Result<RunValue> allocate_value(tensor::DataType type, graph::Dims shape);

// Return a scalar with this element. kOutOfMemory.
Result<RunValue> int64_value(int64_t element);
Result<RunValue> boolean_value(bool element);

// Returns a value that shares the elements of a constant.
RunValue constant_value(const graph::Value& constant, Lasts lasts);

// Return the element of a value that has exactly one, of type INT64 or BOOLEAN; kInvalidArgument
// for any other value. `what` names the value in the message, for example "its trip count".
Result<int64_t> read_int64(const RunValue& value, const char* what);
Result<bool> read_boolean(const RunValue& value, const char* what);

// Returns the slice of `count` indices along `axis` from `begin` on. Shares the elements where
// possible. Requirement: begin + count <= value.shape[axis].
Result<RunValue> take_range(const RunValue& value, size_t axis, size_t begin, size_t count);
// Returns the slice at `index` along `axis`, without that dimension. Shares the elements where
// possible. Requirement: index < value.shape[axis].
Result<RunValue> take_part(const RunValue& value, size_t axis, size_t index);
// concatenate() joins parts along the existing dimension `axis` (ONNX Concat); their types and
// other dimensions must match. join_parts() stacks parts of the same type and shape along a new
// dimension `axis`. kInvalidArgument if they do not match. Requirement: there is at least one part,
// and `axis` is less than its rank, or for join_parts() at most its rank.
Result<RunValue> concatenate(std::span<const RunValue> parts, size_t axis);
Result<RunValue> join_parts(std::vector<RunValue> parts, size_t axis);

}  // namespace millrace::runtime
