// Queries about values and nodes that the passes on quantised values share.
#pragma once

#include <cstddef>
#include <optional>

#include "lowering/passes/edit.h"

namespace millrace::lowering {

// Whether two values have the same element type and quantisation.
bool have_same_quantisation(const graph::Value& a, const graph::Value& b);

// Whether the value is INT8 or UINT8, with one scale and zero point for all of its elements.
bool is_plainly_quantised(const graph::Value& value);

// Whether each element of the output is an element of a data operand (max pooling and nearest
// resizing included), so that moved integers represent the same real numbers as before. A Pad
// qualifies if it adds 0, which every quantisation represents.
bool only_moves(const graph::Operator& op);
// The number of leading operands whose elements are moved, as opposed to indices.
size_t moved_operands(const graph::Node& node);

// Returns the quantisation of operand `moved` after the move. Nothing if `moved` is not INT8 or
// UINT8 with a quantisation, or if that is per axis and the operator is no Transpose.
std::optional<graph::Quantisation> moved_quantisation(const graph::Operator& op,
                                                      const graph::Value& moved);

// The quantised value from which a Requantise makes the FLOAT32 value `id`; kNoValue if `id` is not
// made like this.
graph::ValueId quantised_source(Editor& editor, graph::ValueId id);

// The function that the node applies last: that of a Unary, or the activation of a Conv or MatMul.
// Null for other operators.
graph::Activation* function_of(graph::Node& node);

}  // namespace millrace::lowering
