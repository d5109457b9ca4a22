// Blocks of programmable logic by their registers, which are not emulated: every constructor but
// the default one throws std::system_error with std::errc::not_supported. A stand-in for the header
// of the board's runtime; see xrt/xrt_bo.h. C++17 and later.
#ifndef XRT_EXPERIMENTAL_XRT_IP_H
#define XRT_EXPERIMENTAL_XRT_IP_H

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <string>

#include "xrt/detail/not_emulated.h"
#include "xrt/xrt_device.h"
#include "xrt/xrt_hw_context.h"
#include "xrt/xrt_uuid.h"

#pragma GCC visibility push(default)

namespace xrt {

class ip {
 public:
  class interrupt {
   public:
    void enable() { refuse(); }
    void disable() { refuse(); }
    void wait() { refuse(); }
    std::cv_status wait(const std::chrono::milliseconds&) const { refuse(); }
  };

  ip() = default;
  ip(const device&, const uuid&, const std::string&) { refuse(); }
  ip(const hw_context&, const std::string&) { refuse(); }

  void write_register(uint32_t /*offset*/, uint32_t /*data*/) { refuse(); }
  uint32_t read_register(uint32_t /*offset*/) const { refuse(); }
  interrupt create_interrupt_notify() { refuse(); }
  explicit operator bool() const { return false; }

 private:
  [[noreturn]] static void refuse() { detail::not_emulated("xrt::ip"); }
};

}  // namespace xrt

#pragma GCC visibility pop

#endif  // XRT_EXPERIMENTAL_XRT_IP_H
