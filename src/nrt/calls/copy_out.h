// Structures that grow from version to version: the caller says how much of one it knows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace millrace::nrt {

// Copies as much of `from` as the caller has room for, and returns how much that was.
template <class T>
size_t copy_out(const T& from, void* to, size_t room) {
  const size_t bytes = std::min(room, sizeof from);
  std::memcpy(to, &from, bytes);
  return bytes;
}

}  // namespace millrace::nrt
