// Translates the scale and zero point of the ONNX operators QuantizeLinear and DequantizeLinear
// into graph::Quantisation: real = (q - zero_point) * scale, with one pair of parameters per tensor
// or one per index of an axis. Pure functions: thread-safe.
#pragma once

#include <optional>
#include <span>

#include "graph/graph.h"

namespace millrace::lowering {

// The least and the greatest integer that a quantised value of the type can hold. Requirement: the
// type is INT8, UINT8 or INT32.
struct IntegerLimits {
  int64_t least, greatest;
};
IntegerLimits integer_limits(tensor::DataType type);

// Whether values of the type can be quantised while a model runs: INT8 and UINT8. INT32 can be
// quantised as a constant only, the bias of a layer.
bool is_byte(tensor::DataType type);

// Returns the quantisation of integers of type `integers` by a scale and a zero point, which may be
// null. `axis` is the dimension of `shape` along which they vary if they are vectors. Nothing if
// one of them is not a constant, or if a graph's value cannot have this quantisation.
std::optional<graph::Quantisation> make_quantisation(const graph::Value& scale,
                                                     const graph::Value* zero_point,
                                                     tensor::DataType integers, int64_t axis,
                                                     const graph::Dims& shape);

// Returns the quantisation that a QuantizeLinear or DequantizeLinear of the standard states.
// Operands that are absent are null. Nothing for other operators, and for variants that a graph's
// values do not have: blocked quantisation, four-bit integers, scales of another type than FLOAT32,
// other integer types than those above.
std::optional<graph::Quantisation> quantisation_of(const graph::Fallback& op,
                                                   std::span<const graph::Value* const> operands,
                                                   tensor::DataType integers);

// Whether `op` is a DequantizeLinear of a constant that becomes a quantised constant of the graph.
bool dequantises_constant(const graph::Fallback& op, std::span<const graph::Value* const> operands);

}  // namespace millrace::lowering
