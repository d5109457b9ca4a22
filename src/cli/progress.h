// Progress shows the progress of a task on a terminal, as a line that replaces itself, if the task
// takes longer than two seconds. It is silent if standard error is not a terminal. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::cli {

// Returns a bar such as "[#####---------------] 300 of 1200".
std::string progress_bar(size_t done, size_t total);

class Progress {
 public:
  explicit Progress(std::string_view task);
  ~Progress();  // erases the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Replaces the line by "task: step (elapsed seconds)", at most ten times a second.
  void update(std::string_view step);

 private:
  std::string task_;
  bool terminal_;
  bool shown_ = false;
  int64_t started_ns_;
  int64_t next_ns_;
};

}  // namespace millrace::cli
