// CapturedLog: the lines logged while it lives, in the place of any other sink. One at a time.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"

namespace millrace::test {

class CapturedLog {
 public:
  explicit CapturedLog(LogLevel level = LogLevel::kWarning) {
    set_log_sink(
        [this](LogLevel, std::string_view, std::string_view line) {
          const std::lock_guard lock(mutex_);
          lines_.emplace_back(line);
        },
        level);
  }
  ~CapturedLog() { set_log_sink({}); }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace millrace::test
