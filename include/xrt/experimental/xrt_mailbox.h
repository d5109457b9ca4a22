// Mailboxes of kernels that restart by themselves, which are not emulated: the constructor throws
// std::system_error with std::errc::not_supported. A stand-in for the header of the board's
// runtime; see xrt/xrt_bo.h. C++17 and later.
#ifndef XRT_EXPERIMENTAL_XRT_MAILBOX_H
#define XRT_EXPERIMENTAL_XRT_MAILBOX_H

#include <cstddef>
#include <string>
#include <utility>

#include "xrt/detail/not_emulated.h"
#include "xrt/xrt_bo.h"
#include "xrt/xrt_kernel.h"

#pragma GCC visibility push(default)

namespace xrt {

class mailbox {
 public:
  explicit mailbox(const run&) { refuse(); }

  void read() { refuse(); }
  void write() { refuse(); }
  std::pair<const void*, size_t> get_arg(int /*index*/) const { refuse(); }
  template <class T>
  void set_arg(int /*index*/, T&&) {
    refuse();
  }
  template <class T>
  void set_arg(const std::string& /*name*/, T&&) {
    refuse();
  }

 private:
  [[noreturn]] static void refuse() { detail::not_emulated("xrt::mailbox"); }
};

}  // namespace xrt

#pragma GCC visibility pop

#endif  // XRT_EXPERIMENTAL_XRT_MAILBOX_H
