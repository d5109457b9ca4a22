// Devices. A stand-in for the header of the board's runtime; see xrt_bo.h. C++17 and later.
#ifndef XRT_XRT_DEVICE_H
#define XRT_XRT_DEVICE_H

#include <memory>
#include <string>

#include "experimental/xrt_xclbin.h"
#include "xrt/xrt_uuid.h"

namespace xrt {
class device_impl;  // the library's own, and not among what it exports
}

#pragma GCC visibility push(default)

namespace xrt {

// A handle to a device; copies share it, and so do handles of the same index. Every index has one,
// which is software. Thread-safe.
class device {
 public:
  device() = default;
  explicit device(unsigned int index);
  // Opens the device with that name, such as a bus address.
  explicit device(const std::string& bdf);

  // Makes the program known and gives its identifier, with which kernels and contexts are made.
  // std::invalid_argument for an empty device or program; load_xclbin also std::runtime_error when
  // the file cannot be read.
  uuid register_xclbin(const xclbin& program);
  uuid load_xclbin(const xclbin& program);
  uuid load_xclbin(const std::string& filename);
  // The identifier of the program that was loaded last; null if there was none.
  uuid get_xclbin_uuid() const;
  // Whether the program was loaded or registered.
  bool has_xclbin(const uuid& id) const;

  explicit operator bool() const { return impl_ != nullptr; }

 private:
  std::shared_ptr<device_impl> impl_;
};

}  // namespace xrt

#pragma GCC visibility pop

#endif  // XRT_XRT_DEVICE_H
