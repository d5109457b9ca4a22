// Devices. A stand-in for the header of the board's runtime; see xrt_bo.h. C++17 and later.
#ifndef XRT_XRT_DEVICE_H
#define XRT_XRT_DEVICE_H

#include <cstdint>
#include <memory>
#include <string>

#include "xrt/experimental/xrt_xclbin.h"
#include "xrt/xrt_uuid.h"

namespace xrt {
class device_impl;  // the library's own, and not among what it exports
}

#pragma GCC visibility push(default)

namespace xrt {

namespace info {
// Programs ask for these with device::get_info().
enum class device : unsigned int {
  bdf,
  interface_uuid,
  kdma,
  max_clock_frequency_mhz,
  m2m,
  name,
  nodma,
  offline,
  electrical,
  thermal,
  mechanical,
  memory,
  platform,
  pcie_info,
  host,
  aie,
  aie_shim,
  dynamic_regions,
  vmr
};
}  // namespace info

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

  // bdf is what the device was opened by, as text, and name "millrace"; it has no other hardware
  // (interface_uuid null, kdma and max_clock_frequency_mhz 0, m2m and offline false, nodma true).
  // The rest describes sensors and boards, and throws std::system_error with
  // std::errc::not_supported. std::invalid_argument for an empty device that is asked for a text.
  template <info::device parameter>
  auto get_info() const {
    if constexpr (parameter == info::device::interface_uuid)
      return uuid();
    else if constexpr (parameter == info::device::kdma)
      return uint32_t{0};
    else if constexpr (parameter == info::device::max_clock_frequency_mhz)
      return 0UL;
    else if constexpr (parameter == info::device::m2m || parameter == info::device::offline)
      return false;
    else if constexpr (parameter == info::device::nodma)
      return true;
    else
      return get_text(parameter);
  }

  explicit operator bool() const { return impl_ != nullptr; }

 private:
  std::string get_text(info::device parameter) const;

  std::shared_ptr<device_impl> impl_;
};

}  // namespace xrt

#pragma GCC visibility pop

#endif  // XRT_XRT_DEVICE_H
