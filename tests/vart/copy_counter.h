// Counts the calls of memcpy, memmove and their kin, by any library of the process, that copy at
// least so many bytes at once. The program that links copy_counter.cpp replaces them. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::test {

inline constexpr size_t kLargeCopy = 4096;

// How many since the program began.
uint64_t large_copies() noexcept;

}  // namespace millrace::test
