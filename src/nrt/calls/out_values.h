// How the C API returns structures that grow from version to version, and lists of names.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

namespace millrace::nrt {

// Copies as much of `from` as the caller has room for, since it may know an older and shorter
// version of the structure. Returns how many bytes that was.
template <class T>
size_t copy_out(const T& from, void* to, size_t room) {
  const size_t bytes = std::min(room, sizeof from);
  std::memcpy(to, &from, bytes);
  return bytes;
}

// A new array of static strings, which the caller gives back to free_names. May throw bad_alloc.
inline void give_names(std::span<const char* const> names, const char*** array, size_t* count) {
  *array = new const char*[names.size()];
  std::ranges::copy(names, *array);
  *count = names.size();
}
inline void free_names(const char** array) noexcept {
  delete[] array;
}

}  // namespace millrace::nrt
