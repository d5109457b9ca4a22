// xrt::device and xrt::hw_context. An xclbin is only recorded by its UUID: nothing is programmed.
#include "xrt/xrt_device.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <utility>

#include "xrt/detail/not_emulated.h"
#include "xrt/xrt_hw_context.h"

namespace xrt {

class device_impl {
 public:
  explicit device_impl(std::string name) : name(std::move(name)) {}

  const std::string name;

  void add(const uuid& id) {
    const std::lock_guard lock(mutex_);
    known_.insert(id);
  }
  void load(const uuid& id) {
    const std::lock_guard lock(mutex_);
    known_.insert(id);
    loaded_ = id;
  }
  bool knows(const uuid& id) const {
    const std::lock_guard lock(mutex_);
    return known_.count(id) != 0;
  }
  uuid loaded() const {
    const std::lock_guard lock(mutex_);
    return loaded_;
  }

 private:
  mutable std::mutex mutex_;
  std::set<uuid> known_;
  uuid loaded_;
};

namespace {

// Returns the device of a name. All handles of one name share a device as long as one of them
// exists.
std::shared_ptr<device_impl> open(const std::string& name) {
  struct Devices {
    std::mutex mutex;
    std::map<std::string, std::weak_ptr<device_impl>> by_name;
  };
  // Never destroyed, since a program may open a device while it exits.
  static Devices* const devices = new Devices;
  const std::lock_guard lock(devices->mutex);
  std::weak_ptr<device_impl>& slot = devices->by_name[name];
  std::shared_ptr<device_impl> device = slot.lock();
  if (device == nullptr) slot = device = std::make_shared<device_impl>(name);
  return device;
}

device_impl& check(const std::shared_ptr<device_impl>& device, const xclbin& program) {
  if (device == nullptr) throw std::invalid_argument("xrt::device: the device is empty");
  if (!program) throw std::invalid_argument("xrt::device: the xclbin is empty");
  return *device;
}

}  // namespace

device::device(unsigned int index) : impl_(open(fmt::format("{}", index))) {}
device::device(const std::string& bdf) : impl_(open(bdf)) {}

std::string device::get_text(info::device parameter) const {
  if (impl_ == nullptr) throw std::invalid_argument("xrt::device: the device is empty");
  switch (parameter) {
    case info::device::bdf:
      return impl_->name;
    case info::device::name:
      return "millrace";
    default:
      detail::not_emulated("xrt::device::get_info of this parameter");
  }
}

uuid device::register_xclbin(const xclbin& program) {
  check(impl_, program).add(program.get_uuid());
  return program.get_uuid();
}

uuid device::load_xclbin(const xclbin& program) {
  check(impl_, program).load(program.get_uuid());
  return program.get_uuid();
}

uuid device::load_xclbin(const std::string& filename) {
  return load_xclbin(xclbin(filename));
}

uuid device::get_xclbin_uuid() const {
  return impl_ == nullptr ? uuid() : impl_->loaded();
}

bool device::has_xclbin(const uuid& id) const {
  return impl_ != nullptr && impl_->knows(id);
}

hw_context::hw_context(const xrt::device& device, const uuid& xclbin_id, access_mode mode)
    : device_(device), id_(xclbin_id), mode_(mode) {
  if (!device.has_xclbin(xclbin_id))
    throw std::invalid_argument(fmt::format(
        "xrt::hw_context: the xclbin {} is not registered on the device: call register_xclbin() "
        "first",
        xclbin_id.to_string()));
}

}  // namespace xrt
