// LogCapture: the lines that the library logs while this object lives. Any thread; one at a time.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"

namespace millrace::conformance {

class LogCapture {
 public:
  LogCapture() {
    set_log_sink([this](LogLevel, std::string_view, std::string_view line) {
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(line);
    });
  }
  ~LogCapture() { set_log_sink({}); }
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  // How many lines contain the text.
  size_t count(std::string_view text) {
    const std::lock_guard lock(mutex_);
    return static_cast<size_t>(std::ranges::count_if(
        lines_, [&](const std::string& line) { return line.find(text) != std::string::npos; }));
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace millrace::conformance
