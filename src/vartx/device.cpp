#include "vart/vart_device.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace vart {

class DeviceImplBase {
 public:
  DeviceImplBase(int32_t index, std::string xclbin) : index_(index), xclbin_(std::move(xclbin)) {}

  int32_t index() const noexcept { return index_; }
  const std::string& xclbin() const noexcept { return xclbin_; }

 private:
  const int32_t index_;
  const std::string xclbin_;
};

namespace {

struct OpenDevices {
  std::mutex mutex;
  std::map<int32_t, std::weak_ptr<Device>> by_index;
};

OpenDevices& open_devices() {
  // Never destroyed, since a program may open a device while it exits.
  static OpenDevices* made = new OpenDevices;
  return *made;
}

}  // namespace

Device::Device(std::shared_ptr<DeviceImplBase> impl) : impl_(std::move(impl)) {}
Device::~Device() = default;

std::shared_ptr<Device> Device::get_device_hdl(const int32_t dev_idx,
                                               const std::string& xclbin_loc) {
  OpenDevices& open = open_devices();
  const std::lock_guard lock(open.mutex);
  std::weak_ptr<Device>& slot = open.by_index[dev_idx];
  if (std::shared_ptr<Device> device = slot.lock()) {
    if (device->impl_->xclbin() == xclbin_loc) return device;
    throw std::invalid_argument(fmt::format("device {} is open with \"{}\", not with \"{}\"",
                                            dev_idx, device->impl_->xclbin(), xclbin_loc));
  }
  std::shared_ptr<Device> device(new Device(std::make_shared<DeviceImplBase>(dev_idx, xclbin_loc)));
  slot = device;
  return device;
}

int32_t Device::get_device_index() const {
  return impl_->index();
}

const std::shared_ptr<DeviceImplBase>& Device::get_pimpl_handle() const {
  return impl_;
}

}  // namespace vart
