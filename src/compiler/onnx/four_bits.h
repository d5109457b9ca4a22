// Integers of four bits (INT4, UINT4), which files pack two to a byte. A network holds them as INT8
// and UINT8 with the same values.
//
// Thread-safe.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace::compiler {

// The elements of a file, the first of a byte in its lower half, one to each byte of `to`.
// Requirement: `packed` has as many halves as `to` has elements, or one more.
void unpack_four_bits(std::span<const std::byte> packed, bool is_signed, std::span<uint8_t> to);

// States by attributes what the nodes of the graph and of its subgraphs say by the type of an
// operand and would no longer: `output_dtype` of a QuantizeLinear whose zero point has four bits,
// and `four_bits` of a GatherBlockQuantized whose data has, since bytes would be packed there.
void state_four_bits(::onnx::GraphProto& graph);

}  // namespace millrace::compiler
