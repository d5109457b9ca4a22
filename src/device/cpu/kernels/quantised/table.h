// Functions of bytes as lookup tables with 256 entries.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "device/cpu/builder/builder.h"

namespace millrace::device::cpu::kernels::quantised {

using ByteTable = std::array<uint8_t, 256>;

// Returns the bytes 0 to 255, dequantised as elements of the value.
std::vector<double> numbers_of_bytes(const Builder& builder, graph::ValueId id);
// Returns 256 numbers, quantised as elements of the value. Requirement of both: rule_of(builder,
// id) has a value.
ByteTable bytes_of_numbers(const Builder& builder, graph::ValueId id,
                           const std::vector<double>& numbers);

// Adds the step that looks up the bytes of `from` and writes `to`. Both are dense, in the same
// layout.
void add_table(Builder& builder, const char* operation, const ByteTable& table, const Operand& from,
               const Operand& to);

// Returns the integers of x requantised as those of y, for values of the same dims: the memory of x
// if they have the same quantisation, otherwise new memory in a dense layout. Requirement: both
// have a rule_of().
Result<Operand> stored_as(Builder& builder, graph::ValueId x, graph::ValueId y);

}  // namespace millrace::device::cpu::kernels::quantised
