// FoldingBudget: limits the memory and time of constant folding for one model. A hostile file of a
// few hundred bytes could otherwise ask for any number of elements (Expand, Tile, Range), and for
// any time (products or sums of these). An operator that would exceed the budget stays a node and
// runs in the jobs, or is refused if the graph cannot have such a node. For one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "graph/graph.h"
#include "graph/shape.h"

namespace millrace::lowering {

// Estimates the work of evaluate() or evaluate_fallback() for an operator: the number of elements
// that are read or written, plus the number of multiplications. It is approximately an upper bound.
double evaluation_work(const graph::Operator& op, std::span<const graph::Value* const> operands,
                       std::span<const graph::ValueType> outputs);

class FoldingBudget {
 public:
  // `model_bytes`: the size of the constants that the model states.
  explicit FoldingBudget(size_t model_bytes = 0)
      : bytes_(kMinBytes + kBytesPerModelByte * model_bytes),
        limit_(bytes_),
        work_(kMinWork + kWorkPerModelByte * static_cast<double>(model_bytes)) {}

  // Takes this amount of work from the budget. Returns false, and takes nothing, if less is left.
  bool take_work(double work) {
    if (work > work_) return false;
    work_ -= work;
    return true;
  }

  // Takes the memory and work of a new FLOAT32 constant of `elements` elements. Returns false if
  // the budget does not suffice.
  bool take_floats(size_t elements) {
    const size_t bytes = elements * sizeof(float);
    if (!has_bytes(bytes) || !take_work(static_cast<double>(elements))) return false;
    take_bytes(bytes);
    return true;
  }

  // Returns whether this many bytes are left for computed constants.
  bool has_bytes(size_t bytes) const { return bytes <= bytes_; }
  void take_bytes(size_t bytes) { bytes_ -= std::min(bytes, bytes_); }
  size_t limit_bytes() const { return limit_; }

 private:
  // Suffices for test models that compute their weights, since they state only the shapes of these.
  static constexpr size_t kMinBytes = size_t{1} << 30;
  // Two-bit weights become sixteen times as large in FLOAT32, and exporters transpose, cast or
  // reshape a weight a few times before its use.
  static constexpr size_t kBytesPerModelByte = 20;
  // Suffices to read and write 2^30 bytes of FLOAT32 (2^28 elements) eight times, which takes some
  // ten seconds.
  static constexpr double kMinWork = double{uint64_t{1} << 32};
  // In elements that are read or written, as evaluation_work() counts them. A byte of the model may
  // hold several elements, and each may be read and written a few times.
  static constexpr double kWorkPerModelByte = 160;

  size_t bytes_;
  size_t limit_;
  double work_;
};

}  // namespace millrace::lowering
