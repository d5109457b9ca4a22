// Kernels and their runs. A stand-in for the header of the board's runtime; see xrt_bo.h. C++17 and
// later.
#ifndef XRT_XRT_KERNEL_H
#define XRT_XRT_KERNEL_H

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "xrt/detail/not_emulated.h"
#include "xrt/xrt_bo.h"
#include "xrt/xrt_device.h"
#include "xrt/xrt_hw_context.h"

// States of a run, with the numbers of XRT's interface for C.
enum ert_cmd_state {
  ERT_CMD_STATE_NEW = 1,
  ERT_CMD_STATE_QUEUED = 2,
  ERT_CMD_STATE_RUNNING = 3,
  ERT_CMD_STATE_COMPLETED = 4,
  ERT_CMD_STATE_ERROR = 5,
  ERT_CMD_STATE_ABORT = 6,
  ERT_CMD_STATE_SUBMITTED = 7,
  ERT_CMD_STATE_TIMEOUT = 8
};

namespace xrt {
// The library's own, and not among what it exports.
class kernel_impl;
class run_impl;
}  // namespace xrt

#pragma GCC visibility push(default)

namespace xrt {

class run;

// A handle to a software kernel: one of the shared library that the environment variable
// MILLRACE_PL_KERNELS names (millrace/pl_kernel.h), or pass_through. Copies share it. Thread-safe.
class kernel {
 public:
  enum class cu_access_mode : uint8_t { exclusive, shared, none };

  kernel() = default;
  // `name` may be followed by compute units, as in "scale:{scale_1}". std::invalid_argument when
  // the device does not know the program, or there is no such kernel; std::runtime_error where the
  // library of kernels cannot be used. All access modes are the same here.
  kernel(const device& device, const uuid& xclbin_id, const std::string& name,
         cu_access_mode mode = cu_access_mode::shared);
  kernel(const hw_context& context, const std::string& name);

  // The memory group of a buffer. std::invalid_argument when argument `index` is none.
  int group_id(int index) const;
  std::string get_name() const;

  // Starts a run with these arguments: bo, device addresses, and numbers. Throws what run throws.
  template <class... Args>
  run operator()(Args&&... args);

  // Software has no registers.
  uint32_t offset(int /*index*/) const { detail::not_emulated("xrt::kernel::offset"); }
  uint32_t read_register(uint32_t /*offset*/) const {
    detail::not_emulated("xrt::kernel::read_register");
  }
  void write_register(uint32_t /*offset*/, uint32_t /*data*/) {
    detail::not_emulated("xrt::kernel::write_register");
  }

  explicit operator bool() const { return impl_ != nullptr; }

 private:
  friend class run;
  std::shared_ptr<kernel_impl> impl_;
};

// A run of a kernel, which may be started again once it has ended. Copies share it. To be used from
// one thread at a time. The last copy waits for a run that has not ended, since kernels cannot be
// stopped.
class run {
 public:
  // How a run failed.
  class command_error : public std::exception {
   public:
    explicit command_error(ert_cmd_state state) : state_(state) {}
    ert_cmd_state get_command_state() const { return state_; }
    const char* what() const noexcept override {
      return "xrt::run: the kernel failed; see the log";
    }

   private:
    ert_cmd_state state_;
  };

  run() = default;
  explicit run(const kernel& kernel);

  // Arguments stay set from one start to the next. The memory of a bo must be alive when the run is
  // started, and is kept alive until its end.
  // std::invalid_argument when there is no argument of that index.
  template <class T>
  void set_arg(int index, T&& value) {
    using Value = std::decay_t<T>;
    if constexpr (std::is_same_v<Value, bo>) {
      set_bits(index, value.address());
    } else {
      static_assert(std::is_scalar_v<Value> && sizeof(Value) <= sizeof(uint64_t),
                    "a kernel takes buffer objects, device addresses and numbers");
      const Value plain = value;
      uint64_t bits = 0;
      std::memcpy(&bits, &plain, sizeof plain);
      set_bits(index, bits);
    }
  }

  // Starts the kernel on a thread of the library and returns. std::invalid_argument for an argument
  // that is not set, an address in no live memory, and a run that has not ended; std::runtime_error
  // when no thread can be started.
  void start();
  template <class... Args>
  void operator()(Args&&... args) {
    int index = 0;
    (set_arg(index++, std::forward<Args>(args)), ...);
    start();
  }

  // Waits for the end, for at most that long; 0 means as long as it takes. COMPLETED, ERROR with a
  // line in the log that says why, TIMEOUT, or NEW where nothing was started.
  ert_cmd_state wait(const std::chrono::milliseconds& timeout = std::chrono::milliseconds{0}) const;
  ert_cmd_state wait(unsigned int timeout_ms) const {
    return wait(std::chrono::milliseconds(timeout_ms));
  }
  // The same as the answer whether the time has passed; throws a command_error when the kernel
  // failed or was not started.
  std::cv_status wait2(const std::chrono::milliseconds& timeout = std::chrono::milliseconds{
                           0}) const {
    const ert_cmd_state ended = wait(timeout);
    if (ended == ERT_CMD_STATE_TIMEOUT) return std::cv_status::timeout;
    if (ended != ERT_CMD_STATE_COMPLETED) throw command_error(ended);
    return std::cv_status::no_timeout;
  }
  // Waits for the end, since kernels restart only when they are started.
  void stop() { wait(); }
  ert_cmd_state abort() { detail::not_emulated("xrt::run::abort: a kernel cannot be stopped"); }
  // NEW, RUNNING, COMPLETED or ERROR, at once.
  ert_cmd_state state() const;

  explicit operator bool() const { return impl_ != nullptr; }

 private:
  void set_bits(int index, uint64_t bits);

  std::shared_ptr<run_impl> impl_;
};

template <class... Args>
run kernel::operator()(Args&&... args) {
  run made(*this);
  made(std::forward<Args>(args)...);
  return made;
}

}  // namespace xrt

#pragma GCC visibility pop

#endif  // XRT_XRT_KERNEL_H
