// Lists of names as the C API hands them out: an array of the caller's, of static strings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace millrace::nrt {

// The array is for free_names. May throw bad_alloc.
inline void give_names(std::span<const char* const> names, const char*** array, size_t* count) {
  *array = new const char*[names.size()];
  std::ranges::copy(names, *array);
  *count = names.size();
}
inline void free_names(const char** array) noexcept {
  delete[] array;
}

}  // namespace millrace::nrt
