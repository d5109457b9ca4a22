// LogCapture: collects the lines that Millrace logs while it exists, instead of any other sink.
// Thread-safe; at most one exists at a time.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"

namespace millrace::test {

class LogCapture {
 public:
  explicit LogCapture(LogLevel level = LogLevel::kDebug) {
    set_log_sink(
        [this](LogLevel line_level, std::string_view, std::string_view line) {
          const std::lock_guard lock(mutex_);
          lines_.emplace_back(std::string(to_string(line_level)) + " " + std::string(line));
          logged_.notify_all();
        },
        level);
  }
  ~LogCapture() { set_log_sink({}); }
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  // "LEVEL line", in order.
  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  // How many lines contain the text.
  size_t count(std::string_view text) const {
    const std::lock_guard lock(mutex_);
    return count_locked(text);
  }
  // Returns when a line contains the text.
  void await(std::string_view text) const {
    std::unique_lock lock(mutex_);
    logged_.wait(lock, [&] { return count_locked(text) != 0; });
  }

 private:
  size_t count_locked(std::string_view text) const {
    return static_cast<size_t>(std::ranges::count_if(
        lines_, [&](const std::string& line) { return line.find(text) != std::string::npos; }));
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable logged_;
  std::vector<std::string> lines_;
};

}  // namespace millrace::test
