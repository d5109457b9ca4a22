// Modules of instructions for hardware contexts, which are not emulated: every constructor but the
// default one throws std::system_error with std::errc::not_supported. A stand-in for the header of
// the board's runtime; see xrt/xrt_bo.h. C++17 and later.
#ifndef XRT_EXPERIMENTAL_XRT_MODULE_H
#define XRT_EXPERIMENTAL_XRT_MODULE_H

#include <cstddef>
#include <cstdint>

#include "xrt/detail/not_emulated.h"
#include "xrt/experimental/xrt_elf.h"
#include "xrt/xrt_hw_context.h"
#include "xrt/xrt_uuid.h"

#pragma GCC visibility push(default)

namespace xrt {

class module {
 public:
  module() = default;
  explicit module(const elf&) { refuse(); }
  module(void*, size_t, const uuid&) { refuse(); }
  module(const module& /*parent*/, const hw_context&) { refuse(); }
  module(const module& /*parent*/, const hw_context&, uint32_t /*index*/) { refuse(); }

  uuid get_cfg_uuid() const { refuse(); }
  hw_context get_hw_context() const { refuse(); }
  explicit operator bool() const { return false; }

 private:
  [[noreturn]] static void refuse() { detail::not_emulated("xrt::module"); }
};

}  // namespace xrt

#pragma GCC visibility pop

#endif  // XRT_EXPERIMENTAL_XRT_MODULE_H
