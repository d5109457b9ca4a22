// Functions of bytes, as tables of what each of the 256 bytes becomes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "device/cpu/builder/builder.h"

namespace millrace::device::cpu::kernels::quantised {

using ByteTable = std::array<uint8_t, 256>;

// The numbers that the bytes 0 to 255 stand for, as elements of the quantised value.
std::vector<double> numbers_of_bytes(const Builder& builder, graph::ValueId id);
// The bytes that 256 numbers become as elements of the quantised value. Requirement of both:
// rule_of(builder, id) has a value.
ByteTable bytes_of_numbers(const Builder& builder, graph::ValueId id,
                           const std::vector<double>& numbers);

// Adds the step that looks up the bytes of `from`, giving `to`, which lies the same way; both are
// dense.
void add_table(Builder& builder, const char* operation, const ByteTable& table, const Operand& from,
               const Operand& to);

// The integers of x as those of y, for values of the same dims: the memory of x where they have the
// same form, else new memory in a dense layout. Requirement: both have a rule_of().
Result<Operand> stored_as(Builder& builder, graph::ValueId x, graph::ValueId y);

}  // namespace millrace::device::cpu::kernels::quantised
