// Lists of runs. A stand-in for the header of the board's runtime; see xrt/xrt_bo.h. C++17 and
// later.
#ifndef XRT_EXPERIMENTAL_XRT_KERNEL_H
#define XRT_EXPERIMENTAL_XRT_KERNEL_H

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <string>

#include "xrt/xrt_hw_context.h"
#include "xrt/xrt_kernel.h"

namespace xrt {
class runlist_impl;  // the library's own, and not among what it exports
}

#pragma GCC visibility push(default)

namespace xrt {

// Runs one after the other, as one piece of work. Copies share it. To be used from one thread at a
// time. The last copy waits for runs that have not ended.
class runlist {
 public:
  // The run that failed, and how.
  class command_error : public std::exception {
   public:
    command_error(const xrt::run& run, ert_cmd_state state, const std::string& what);
    xrt::run get_run() const { return run_; }
    ert_cmd_state get_command_state() const { return state_; }
    const char* what() const noexcept override;

   private:
    xrt::run run_;
    ert_cmd_state state_;
    std::shared_ptr<const std::string> what_;
  };

  // Empty: no member but the assignments may be used.
  runlist() = default;
  // Runs of kernels of every context are taken.
  explicit runlist(const hw_context& context);

  // Adds a run, which must not be started by the program meanwhile. std::invalid_argument while the
  // list is executed, and for an empty run.
  void add(const run& run);
  // Starts the runs of the list and returns. std::invalid_argument while it is executed.
  void execute();
  // Waits for the end of the last run, for at most that long; 0 means as long as it takes. Throws a
  // command_error when a run failed; those after it were not started. Throws std::runtime_error in
  // a forked child where the list was being executed at the time of the fork; its state is ERROR
  // there.
  std::cv_status wait(const std::chrono::milliseconds& timeout) const;
  void wait() const { wait(std::chrono::milliseconds{0}); }
  // NEW, RUNNING, COMPLETED or ERROR, at once. An empty list is COMPLETED.
  ert_cmd_state state() const;
  // 0 while the list is executed, and another number afterwards. Throws as wait does.
  int poll() const;
  // Removes all runs. std::invalid_argument while the list is executed.
  void reset();

  explicit operator bool() const { return impl_ != nullptr; }

 private:
  std::shared_ptr<runlist_impl> impl_;
};

}  // namespace xrt

#pragma GCC visibility pop

#endif  // XRT_EXPERIMENTAL_XRT_KERNEL_H
