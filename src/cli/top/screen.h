// Screen: the whole terminal of the user, as long as it exists. It shows lines, cut off at the
// edges, and leaves the terminal as it was: at the end, while the user has stopped the program
// (Ctrl-Z), and when a signal ends it. There may be one object at a time, in a program without
// other threads.
#pragma once

#include <termios.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"

namespace millrace::cli {

class Screen {
 public:
  // Whether standard output is a terminal that can show a screen.
  static bool is_possible();

  // Takes the terminal. kIoError, or kResourceExhausted without a descriptor.
  static Result<std::unique_ptr<Screen>> take();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // Returns the lines for a terminal of `columns` columns.
  using Lines = std::function<std::vector<std::string>(size_t columns)>;
  // Shows the lines, and for how long it does so. Returns false when the user has ended it (q or
  // Ctrl-C), or the terminal is gone. Other signals end the program as usual.
  bool show(const Lines& lines, std::chrono::milliseconds time);

 private:
  Screen() = default;
  void enter();
  void leave();
  void draw(const Lines& lines) const;
  bool handle_key();
  bool handle_signal(const Lines& lines);

  sigset_t before_{};
  UniqueFd signals_;
  termios settings_{};
  bool has_settings_ = false;  // whether standard input is a terminal, whose settings were kept
};

}  // namespace millrace::cli
