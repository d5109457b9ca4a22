// Queries about nodes that the passes on quantised values share.
#pragma once

#include <cstddef>
#include <optional>

#include "lowering/passes/edit.h"

namespace millrace::lowering {

// Whether two values hold their elements in the same form: type and quantisation.
bool have_same_form(const graph::Value& a, const graph::Value& b);

// Whether the value is INT8 or UINT8, with one scale and zero point for all of its elements.
bool is_plainly_quantised(const graph::Value& value);

// Whether each element of the output is an element of a data operand: then integers that are moved
// stand for the same numbers as before. What a Pad adds is 0, which every quantisation has.
bool only_moves(const graph::Operator& op);
// Number of leading operands of a move that are moved, as opposed to indices.
size_t moved_operands(const graph::Node& node);

// Returns the quantisation of operand `moved` after the move. Nothing if its parameters would not
// follow: those of an axis, for all moves but a Transpose.
std::optional<graph::Quantisation> moved_quantisation(const graph::Operator& op,
                                                      const graph::Value& moved);

// The quantised value from which a Requantise makes the FLOAT32 `id`; kNoValue where `id` is made
// otherwise.
graph::ValueId quantised_source(Editor& editor, graph::ValueId id);

// The function that the node applies to its result: that of a Unary, and the activation of a Conv
// or MatMul. Null for other operators.
graph::Activation* function_of(graph::Node& node);

}  // namespace millrace::lowering
