// The array of AI Engines, which is not emulated: its buffers and contexts are those of
// xrt_bo.h and xrt_hw_context.h, and every call on the array throws std::system_error with
// std::errc::not_supported. A stand-in for the header of the board's runtime; see xrt_bo.h. C++17
// and later.
#ifndef XRT_XRT_AIE_H
#define XRT_XRT_AIE_H

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "xrt/detail/not_emulated.h"
#include "xrt/xrt_bo.h"
#include "xrt/xrt_device.h"
#include "xrt/xrt_graph.h"
#include "xrt/xrt_hw_context.h"
#include "xrt/xrt_uuid.h"

#pragma GCC visibility push(default)

namespace xrt::aie {

enum class access_mode : uint8_t { exclusive = 0, primary = 1, shared = 2, none = 3 };

// A device, whose array cannot be used.
class device : public xrt::device {
 public:
  using access_mode = aie::access_mode;
  enum class buffer_state { idle, running, completed };

  template <class T>
  device(T&& opened, access_mode = access_mode::primary)  // implicit, as XRT's
      : xrt::device(std::forward<T>(opened)) {}

  void reset_array() { refuse(); }
  std::vector<char> read_aie_mem(pid_t, uint16_t, uint16_t, uint16_t, uint32_t, uint32_t) const {
    refuse();
  }
  size_t write_aie_mem(pid_t, uint16_t, uint16_t, uint16_t, uint32_t, const std::vector<char>&) {
    refuse();
  }
  uint32_t read_aie_reg(pid_t, uint16_t, uint16_t, uint16_t, uint32_t) const { refuse(); }
  bool write_aie_reg(pid_t, uint16_t, uint16_t, uint16_t, uint32_t, uint32_t) { refuse(); }
  float get_thermal() const { refuse(); }

 private:
  [[noreturn]] static void refuse() { detail::not_emulated("xrt::aie::device"); }
};

// Memory like any other; there is no port of the array to transfer it to.
class bo : public xrt::bo {
 public:
  using xrt::bo::sync;

  template <class... Args>
  bo(Args&&... args)  // implicit, as XRT's
      : xrt::bo(std::forward<Args>(args)...) {}

  void sync(const std::string&, xclBOSyncDirection) { refuse(); }
  void sync(const std::string&, xclBOSyncDirection, size_t, size_t) { refuse(); }

 private:
  [[noreturn]] static void refuse() { detail::not_emulated("xrt::aie::bo: a port of the array"); }
};

class hw_context : public xrt::hw_context {
 public:
  template <class... Args>
  hw_context(Args&&... args)  // implicit, as XRT's
      : xrt::hw_context(std::forward<Args>(args)...) {}

  void reset_array() { detail::not_emulated("xrt::aie::hw_context::reset_array"); }
};

class profiling {
 public:
  enum class profiling_option : int {
    io_total_stream_running_to_idle_cycles = 0,
    io_stream_start_to_bytes_transferred_cycles = 1,
    io_stream_start_difference_cycles = 2,
    io_stream_running_event_count = 3
  };

  profiling() = default;
  explicit profiling(const xrt::device&) { refuse(); }
  explicit profiling(const xrt::hw_context&) { refuse(); }

  int start(profiling_option, const std::string&, const std::string&, uint32_t) const { refuse(); }
  uint64_t read() const { refuse(); }
  void stop() const { refuse(); }

 private:
  [[noreturn]] static void refuse() { detail::not_emulated("xrt::aie::profiling"); }
};

class buffer {
 public:
  buffer() = default;
  buffer(const xrt::device&, const uuid&, const std::string&) { refuse(); }
  buffer(const xrt::hw_context&, const std::string&) { refuse(); }

  void sync(xrt::bo, xclBOSyncDirection, size_t, size_t) const { refuse(); }
  void sync(xrt::bo, xrt::bo, xclBOSyncDirection, size_t, size_t) const { refuse(); }
  void async(xrt::bo, xclBOSyncDirection, size_t, size_t) const { refuse(); }
  void async(xrt::bo, xrt::bo, xclBOSyncDirection, size_t, size_t) const { refuse(); }
  device::buffer_state async_status() const { refuse(); }
  void wait() const { refuse(); }

 private:
  [[noreturn]] static void refuse() { detail::not_emulated("xrt::aie::buffer"); }
};

}  // namespace xrt::aie

#pragma GCC visibility pop

#endif  // XRT_XRT_AIE_H
