// Fences between runs of hardware queues, which are not emulated: every constructor but the default
// one throws std::system_error with std::errc::not_supported. A stand-in for the header of the
// board's runtime; see xrt/xrt_bo.h. C++17 and later.
#ifndef XRT_EXPERIMENTAL_XRT_FENCE_H
#define XRT_EXPERIMENTAL_XRT_FENCE_H

#include <chrono>
#include <condition_variable>
#include <cstdint>

#include "xrt/detail/not_emulated.h"
#include "xrt/xrt_bo.h"
#include "xrt/xrt_device.h"

#pragma GCC visibility push(default)

namespace xrt {

class fence {
 public:
  using export_handle = int;
  enum class access_mode : uint8_t { local, shared, process, hybrid };

  fence() = default;
  fence(const device&, access_mode) { refuse(); }
  fence(const device&, pid_type, export_handle) { refuse(); }

  export_handle export_fence() { refuse(); }
  void signal() { refuse(); }
  void signal(uint64_t /*value*/) { refuse(); }
  std::cv_status wait(const std::chrono::milliseconds&) { refuse(); }
  std::cv_status wait(uint64_t /*value*/, const std::chrono::milliseconds&) { refuse(); }
  access_mode get_access_mode() const { refuse(); }
  uint64_t get_next_state() const { refuse(); }
  explicit operator bool() const { return false; }

 private:
  [[noreturn]] static void refuse() { detail::not_emulated("xrt::fence"); }
};

}  // namespace xrt

#pragma GCC visibility pop

#endif  // XRT_EXPERIMENTAL_XRT_FENCE_H
