// Graphs of AI Engines, which are not emulated: every call throws std::system_error with
// std::errc::not_supported. A stand-in for the header of the board's runtime; see xrt_bo.h. C++17
// and later.
#ifndef XRT_XRT_GRAPH_H
#define XRT_XRT_GRAPH_H

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "xrt/detail/not_emulated.h"
#include "xrt/xrt_bo.h"
#include "xrt/xrt_device.h"
#include "xrt/xrt_hw_context.h"
#include "xrt/xrt_uuid.h"

#pragma GCC visibility push(default)

namespace xrt {

class graph {
 public:
  enum class access_mode : uint8_t { exclusive = 0, primary = 1, shared = 2 };

  graph(const device&, const uuid&, const std::string&, access_mode = access_mode::primary) {
    refuse();
  }
  graph(const hw_context&, const std::string&, access_mode = access_mode::primary) { refuse(); }

  void reset() const { refuse(); }
  uint64_t get_timestamp() const { refuse(); }
  void run(uint32_t /*iterations*/ = 0) { refuse(); }
  void wait(std::chrono::milliseconds) { refuse(); }
  void wait(uint64_t /*cycles*/ = 0) { refuse(); }
  void suspend() { refuse(); }
  void resume() { refuse(); }
  void end(uint64_t /*cycles*/ = 0) { refuse(); }

  template <class T>
  void update(const std::string&, T&&) {
    refuse();
  }
  void update(const std::string&, const void*, size_t) { refuse(); }
  template <class T>
  void read(const std::string&, T&) {
    refuse();
  }
  void read(const std::string&, void*, size_t) { refuse(); }

 private:
  [[noreturn]] static void refuse() { detail::not_emulated("xrt::graph"); }
};

}  // namespace xrt

#pragma GCC visibility pop

#endif  // XRT_XRT_GRAPH_H
