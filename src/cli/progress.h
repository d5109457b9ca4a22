// Progress on a terminal, for what takes longer than two seconds; silent when standard error is
// piped. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::cli {

// "[#####---------------] 300 of 1200".
std::string progress_bar(size_t done, size_t total);

class Progress {
 public:
  explicit Progress(std::string_view task);
  ~Progress();  // wipes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Shows "task: step" over the line before, at most ten times a second.
  void update(std::string_view step);

 private:
  std::string task_;
  bool terminal_;
  bool shown_ = false;
  int64_t started_ns_;
  int64_t next_ns_;
};

}  // namespace millrace::cli
