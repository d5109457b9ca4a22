// Progress shows the progress of a task on a terminal, as a line that replaces itself, if the task
// takes longer than two seconds. Both classes are silent if standard error is not a terminal, and
// in a process that has not called allow(), such as one that has loaded the Python package. One
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace millrace::cli {

// Returns a bar such as "[#####---------------] 300 of 1200".
std::string progress_bar(size_t done, size_t total);

class Progress {
 public:
  // Lets this process show progress. To be called by main(), before the first object is made.
  static void allow() noexcept;

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

// BusyLine shows the same line for steps that cannot report on themselves, such as the decoding of
// a large picture: a thread of its own repeats it every second. Without a terminal there is no
// thread. One thread may use it.
class BusyLine {
 public:
  explicit BusyLine(std::string_view task);
  ~BusyLine();  // erases the line
  BusyLine(const BusyLine&) = delete;
  BusyLine& operator=(const BusyLine&) = delete;

  // Sets the step that is shown from now on.
  void update(std::string_view step);

 private:
  struct Shown;
  std::unique_ptr<Shown> shown_;  // null without a terminal
};

}  // namespace millrace::cli
