// The threads of Millrace in this process: lanes, dispatcher, monitor, threads of blocking
// units.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

namespace millrace::test {

// Returns the number of threads whose name begins with the prefix.
inline size_t library_threads(std::string_view prefix = "millrace-") {
  size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "comm");
    std::string name;
    std::getline(file, name);
    if (name.starts_with(prefix)) ++count;
  }
  return count;
}

// Returns once there are `count` such threads. A thread gets its name a moment after it was
// started, and leaves the list a moment after it was joined.
inline void await_library_threads(size_t count, std::string_view prefix = "millrace-") {
  while (library_threads(prefix) != count) std::this_thread::yield();
}

}  // namespace millrace::test
