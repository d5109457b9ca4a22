// Checksums of the parts of an input, in memory of the program, which the program may free
// meanwhile. Values; thread-safe as such.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace millrace::check {

enum class SumError : uint8_t {
  kNone,
  kNotTaken,
  kUnmapped,    // there is no memory at some of the addresses
  kNotPossible  // the system does not let the process look
};

struct InputSum {
  std::vector<uint64_t> parts{};  // all but the last have the same number of bytes
  SumError error = SumError::kNotTaken;

  bool known() const noexcept { return error == SumError::kNone; }
};

// Reads the memory by a system call, which fails where an access would end the process. Throws
// std::bad_alloc.
InputSum sum_of(const void* data, size_t bytes);

struct ByteRange {
  size_t begin = 0, end = 0;
};

// Returns the smallest range of parts in which two sums of the same `bytes` bytes differ; nothing
// if they are equal, or one of them is not known.
std::optional<ByteRange> difference(const InputSum& a, const InputSum& b, size_t bytes);

}  // namespace millrace::check
