// Makes tensors that are parts of larger ones.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/device_cpu/model_builder.h"

namespace millrace::device::cpu {

// The way in which a tensor is part of a larger one. No part begins at the start of it.
enum class Part {
  kRows,        // from the second row of the outermost dimension on
  kColumns,     // from the second column of the innermost dimension on
  kBlock,       // a view of a view: in the outermost and then in the innermost dimension
  kMatrix,      // one index of one more dimension, the outermost
  kStride,      // one index of one more dimension, the innermost
  kShaped,      // a stretch of a vector, in the shape of the tensor
  kTransposed,  // from the second column on, with the dimensions in the opposite order
};
inline constexpr Part kParts[] = {Part::kRows,   Part::kColumns, Part::kBlock,     Part::kMatrix,
                                  Part::kStride, Part::kShaped,  Part::kTransposed};

std::string name_of(Part part);
// Returns whether a tensor of these dimensions can be such a part.
bool is_possible(Part part, const graph::Dims& dims);

// Returns the larger tensor. `fill` is in all elements that do not belong to the part.
Tensor embed(Part part, const Tensor& tensor, float fill);
// Adds a node to `builder` and returns its output.
using AddNode = std::function<graph::ValueId(graph::Operator, std::vector<graph::ValueId>)>;
// Adds the nodes that take the part from the larger tensor; `dims` are those of the part.
graph::ValueId take(ModelBuilder& builder, const AddNode& add, Part part, graph::ValueId whole,
                    const graph::Dims& dims);

}  // namespace millrace::device::cpu
