// 4-bit integers (INT4, UINT4). Files pack two of them into a byte; a network holds them as INT8
// and UINT8 with the same values.
//
// Thread-safe.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace::compiler {

// Unpacks elements to one byte each. The lower half of a byte is the first of its two elements.
// Requirement: `packed` has as many halves as `to` has elements, or one more.
void unpack_four_bits(std::span<const std::byte> packed, bool is_signed, std::span<uint8_t> to);

// Adds attributes for what nodes of the graph and its subgraphs express by the 4-bit type of an
// operand, since a network does not keep that type: `output_dtype` for a QuantizeLinear with a
// 4-bit zero point, and `four_bits` for a GatherBlockQuantized with 4-bit data, whose bytes would
// otherwise count as packed.
void state_four_bits(::onnx::GraphProto& graph);

}  // namespace millrace::compiler
