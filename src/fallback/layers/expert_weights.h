// The weights of one layer of a mixture of experts, [experts, rows, columns]: FLOAT32, or
// integers of 2, 4 or 8 bits with scales and zero points (q - zero_point) * scale, which are
// dequantised row by row. A reader is for one thread.
#pragma once

#include <span>
#include <vector>

#include "fallback/node_view.h"

namespace millrace::fallback {

struct ExpertShape {
  size_t experts = 0, rows = 0, columns = 0;
};

class DenseWeights {
 public:
  // kInvalidArgument: operand `weights` is not [experts, rows, columns] of FLOAT32.
  static Result<DenseWeights> of(const NodeView& node, size_t weights, const ExpertShape& shape);

  const float* row(size_t expert, size_t index) {
    return weights_ + (expert * shape_.rows + index) * shape_.columns;
  }

 private:
  const float* weights_ = nullptr;
  ExpertShape shape_;
};

// Integers are packed along the columns, the first of each byte in its lowest bits. A scale applies
// to a block of columns, or to the whole row.
class PackedWeights {
 public:
  // The operands that hold the weights, their scales and their zero points, which may be absent, by
  // index.
  struct Places {
    size_t weights, scales, zeros;
  };

  // kInvalidArgument: the operands do not fit the shape and the attributes expert_weight_bits and
  // block_size.
  static Result<PackedWeights> of(const NodeView& node, const Places& places,
                                  const ExpertShape& shape);

  // The result is valid until the next call.
  const float* row(size_t expert, size_t index);

 private:
  float scale_of(size_t row, size_t block) const;
  float zero_of(size_t expert, size_t index, size_t block) const;

  const uint8_t *weights_ = nullptr, *zeros_ = nullptr;
  const float* scales_ = nullptr;
  ExpertShape shape_;
  size_t bits_ = 4, block_ = 0, blocks_ = 1;  // `block_` is the number of columns of a block
  bool has_blocks_ = false;
  // Dequantises a block: bytes, zero point, scale, and where its values go.
  void (*dequantise_)(const uint8_t*, float, float, std::span<float>) = nullptr;
  std::vector<float> buffer_;
};

}  // namespace millrace::fallback
