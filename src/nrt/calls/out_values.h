// Helpers that return versioned structures and lists of names through the C API.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

namespace millrace::nrt {

// Copies at most `room` bytes of the structure `from`: a caller that was built for an older version
// knows only its first members. Returns the number of bytes copied.
template <class T>
size_t copy_out(const T& from, void* to, size_t room) {
  const size_t bytes = std::min(room, sizeof from);
  std::memcpy(to, &from, bytes);
  return bytes;
}

// Returns the strings, which must be static, in a new array, which the caller passes to
// free_names(). May throw bad_alloc.
inline void give_names(std::span<const char* const> names, const char*** array, size_t* count) {
  *array = new const char*[names.size()];
  std::ranges::copy(names, *array);
  *count = names.size();
}
inline void free_names(const char** array) noexcept {
  delete[] array;
}

}  // namespace millrace::nrt
