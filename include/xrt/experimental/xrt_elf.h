// ELF files with instructions for hardware contexts, which are not emulated: every constructor but
// the default one throws std::system_error with std::errc::not_supported. A stand-in for the header
// of the board's runtime; see xrt/xrt_bo.h. C++17 and later.
#ifndef XRT_EXPERIMENTAL_XRT_ELF_H
#define XRT_EXPERIMENTAL_XRT_ELF_H

#include <cstddef>
#include <istream>
#include <string>
#include <string_view>

#include "xrt/detail/not_emulated.h"
#include "xrt/xrt_uuid.h"

#pragma GCC visibility push(default)

namespace xrt {

class elf {
 public:
  elf() = default;
  explicit elf(const std::string& /*filename*/) { refuse(); }
  explicit elf(const char* /*filename*/) { refuse(); }
  explicit elf(const std::string_view& /*data*/) { refuse(); }
  explicit elf(std::istream&) { refuse(); }
  elf(const void*, size_t) { refuse(); }

  uuid get_cfg_uuid() const { refuse(); }
  explicit operator bool() const { return false; }

 private:
  [[noreturn]] static void refuse() { detail::not_emulated("xrt::elf"); }
};

}  // namespace xrt

#pragma GCC visibility pop

#endif  // XRT_EXPERIMENTAL_XRT_ELF_H
