// A checksum of memory of the program, which the program may free meanwhile. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace millrace::check {

enum class SumError : uint8_t {
  kNone,
  kUnmapped,    // there is no memory at some of the addresses
  kNotPossible  // the system does not let the process look
};

struct InputSum {
  uint64_t value = 0;
  SumError error = SumError::kNone;

  bool known() const noexcept { return error == SumError::kNone; }
};

// Reads the memory by a system call, which fails where an access would end the process.
InputSum sum_of(const void* data, size_t bytes) noexcept;

}  // namespace millrace::check
