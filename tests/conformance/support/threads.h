// Threads of tests: those that wait for something, and those of the process by name.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <utility>
#include <vector>

namespace millrace::conformance {

// The names of the process's threads.
inline std::vector<std::string> thread_names() {
  std::vector<std::string> names;
  std::error_code gone;  // a thread may end while it is looked at
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", gone)) {
    std::ifstream file(task.path() / "comm");
    std::string name;
    if (std::getline(file, name)) names.push_back(name);
  }
  return names;
}

inline size_t threads_called(const std::string& name) {
  const std::vector<std::string> names = thread_names();
  return static_cast<size_t>(std::ranges::count(names, name));
}

// Runs `work` on a thread of its own; the result waits for it.
template <class Work>
auto on_thread(Work work) {
  return std::async(std::launch::async, std::move(work));
}

}  // namespace millrace::conformance
