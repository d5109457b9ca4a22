// How much may be computed from the constants of one model while it is compiled. A file of a few
// hundred bytes can ask for any number of elements (Expand, Tile, Range), and for any time
// (products of what those make, sums over them). What would pass the budget is left to the jobs, as
// a node, or refused where a graph cannot have it as one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "graph/graph.h"
#include "graph/shape.h"

namespace millrace::lowering {

// An estimate of what evaluate() or evaluate_fallback() does, never far below it: elements that are
// read or written, and multiplications.
double evaluation_work(const graph::Operator& op, std::span<const graph::Value* const> operands,
                       std::span<const graph::ValueType> outputs);

class FoldingBudget {
 public:
  // `model_bytes` are those of the constants that the model states.
  explicit FoldingBudget(size_t model_bytes = 0)
      : bytes_(kMinBytes + kBytesPerModelByte * model_bytes),
        limit_(bytes_),
        work_(kMinWork + kWorkPerModelByte * static_cast<double>(model_bytes)) {}

  // Takes so much work, if that much is left.
  bool take_work(double work) {
    if (work > work_) return false;
    work_ -= work;
    return true;
  }

  // Takes what a new constant of so many elements of FLOAT32 needs, if that much is left.
  bool take_floats(size_t elements) {
    const size_t bytes = elements * sizeof(float);
    if (!has_bytes(bytes) || !take_work(static_cast<double>(elements))) return false;
    take_bytes(bytes);
    return true;
  }

  // Bytes of computed constants.
  bool has_bytes(size_t bytes) const { return bytes <= bytes_; }
  void take_bytes(size_t bytes) { bytes_ -= std::min(bytes, bytes_); }
  size_t limit_bytes() const { return limit_; }

 private:
  // Room for the computed weights of test models that state shapes only.
  static constexpr size_t kMinBytes = size_t{1} << 30;
  // Weights of two bits become sixteen times as large, and exporters transpose, cast or reshape a
  // weight a few times before its use.
  static constexpr size_t kBytesPerModelByte = 20;
  // Some ten seconds, and enough to compute 2^30 bytes of FLOAT32 eight times.
  static constexpr double kMinWork = double{uint64_t{1} << 32};
  // Each of these steps reads and writes an element of up to sixteen per byte.
  static constexpr double kWorkPerModelByte = 160;

  size_t bytes_;
  size_t limit_;
  double work_;
};

}  // namespace millrace::lowering
