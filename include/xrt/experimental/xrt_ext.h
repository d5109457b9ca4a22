// Buffer objects by their access mode, and kernels of modules. A stand-in for the header of the
// board's runtime; see xrt/xrt_bo.h. C++17 and later.
#ifndef XRT_EXPERIMENTAL_XRT_EXT_H
#define XRT_EXPERIMENTAL_XRT_EXT_H

#include <cstddef>
#include <cstdint>
#include <string>

#include "xrt/detail/not_emulated.h"
#include "xrt/experimental/xrt_module.h"
#include "xrt/xrt_bo.h"
#include "xrt/xrt_hw_context.h"
#include "xrt/xrt_kernel.h"

#pragma GCC visibility push(default)

namespace xrt::ext {

// Memory like that of any xrt::bo: all access modes are the same here.
class bo : public xrt::bo {
 public:
  enum class access_mode : uint64_t {
    none = 0,
    read = 1,
    write = 2,
    read_write = read | write,
    local = 0,
    shared = 4,
    process = 8,
    hybrid = 16
  };
  friend constexpr access_mode operator|(access_mode left, access_mode right) {
    return static_cast<access_mode>(static_cast<uint64_t>(left) | static_cast<uint64_t>(right));
  }
  friend constexpr access_mode operator&(access_mode left, access_mode right) {
    return static_cast<access_mode>(static_cast<uint64_t>(left) & static_cast<uint64_t>(right));
  }

  bo(const device& device, void* userptr, size_t size, access_mode) : bo(device, userptr, size) {}
  bo(const device& device, void* userptr, size_t size) : xrt::bo(device, userptr, size, 0) {}
  bo(const device& device, size_t size, access_mode) : bo(device, size) {}
  bo(const device& device, size_t size) : xrt::bo(device, size, 0) {}
  bo(const hw_context& context, size_t size, access_mode) : bo(context, size) {}
  bo(const hw_context& context, size_t size) : xrt::bo(context, size, 0) {}
  // Descriptors of other processes cannot be imported by number: they have to be sent.
  bo(const device&, pid_type, export_handle) { refuse(); }
  bo(const hw_context&, pid_type, export_handle) { refuse(); }

 private:
  [[noreturn]] static void refuse() {
    detail::not_emulated("xrt::ext::bo: an import by the number of a process");
  }
};

class kernel : public xrt::kernel {
 public:
  kernel(const hw_context&, const module&, const std::string&) {
    detail::not_emulated("xrt::ext::kernel: a kernel of a module");
  }
};

}  // namespace xrt::ext

#pragma GCC visibility pop

#endif  // XRT_EXPERIMENTAL_XRT_EXT_H
