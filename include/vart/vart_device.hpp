// VART-X devices: the board (here: its software) that frames, memories and functions belong to.
//
// Sources: the published VART-X documentation and sample programs, release 6.2 and the one after
// it. Defines no macro and no name outside namespace vart. C++17 and later.
#ifndef VART_VART_DEVICE_HPP
#define VART_VART_DEVICE_HPP

#include <cstdint>
#include <memory>
#include <string>

#include "vart/vart_standard_headers.hpp"

namespace vart {
class DeviceImplBase;  // the library's own, and not among what it exports
}

#pragma GCC visibility push(default)

namespace vart {

// One opened device. Nothing here depends on which shared_ptr owns it: programs make further ones,
// with deleters that do nothing, from the plain pointer.
class Device {
 public:
  Device() = delete;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  // The device with that index, opened on first use. The same index and path give the same device
  // for as long as a pointer to it exists. `xclbin_loc` is compared, not read: software needs no
  // bitstream. Throws std::invalid_argument when the device cannot be opened, or is open with
  // another path.
  static std::shared_ptr<Device> get_device_hdl(const int32_t dev_idx,
                                                const std::string& xclbin_loc);

  int32_t get_device_index() const;
  const std::shared_ptr<DeviceImplBase>& get_pimpl_handle() const;

 private:
  explicit Device(std::shared_ptr<DeviceImplBase> impl);

  std::shared_ptr<DeviceImplBase> impl_;
};

}  // namespace vart

#pragma GCC visibility pop

#endif  // VART_VART_DEVICE_HPP
