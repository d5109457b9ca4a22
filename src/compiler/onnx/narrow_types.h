// Types that files have and networks do not: integers of 2 and 4 bits and floating-point types of
// at most 16 bits, which a network holds in wider types (fallback/narrow_types.h).
//
// Thread-safe.
#pragma once

#include <onnx/onnx_pb.h>

namespace millrace::compiler {

// Adds attributes for what nodes of the graph and its subgraphs express by the type of an operand,
// as far as the file states that type or the nodes before say it: `output_dtype` for a
// QuantizeLinear whose zero point has a narrow type; `four_bits` for a GatherBlockQuantized of
// 4-bit data, whose bytes would otherwise count as packed; `from` for a BitCast. A CastLike to a
// narrow type becomes a Cast.
void state_narrow_types(::onnx::GraphProto& graph);

}  // namespace millrace::compiler
