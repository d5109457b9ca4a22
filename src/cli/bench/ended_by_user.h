// EndedByUser lets a benchmark report what it has measured when the user presses Ctrl-C. There may
// be one object at a time.
#pragma once

#include <csignal>

#include <atomic>

namespace millrace::cli {

class EndedByUser {
 public:
  // From now on the first SIGINT sets flag(); a further one ends the process, as usual, unless it
  // comes so soon that the user cannot have pressed the key twice. A signal that the process
  // ignores stays ignored.
  EndedByUser();
  ~EndedByUser();
  EndedByUser(const EndedByUser&) = delete;
  EndedByUser& operator=(const EndedByUser&) = delete;

  static const std::atomic<bool>* flag() noexcept;

 private:
  struct sigaction before_ {};
};

}  // namespace millrace::cli
