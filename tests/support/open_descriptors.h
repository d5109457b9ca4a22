// Counts the open file descriptors of the process.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>

namespace millrace::test {

inline size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

}  // namespace millrace::test
