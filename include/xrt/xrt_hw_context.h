// Contexts: a device with one of its programs. A stand-in for the header of the board's runtime;
// see xrt_bo.h. C++17 and later.
#ifndef XRT_XRT_HW_CONTEXT_H
#define XRT_XRT_HW_CONTEXT_H

#include <cstdint>
#include <map>
#include <string>

#include "xrt/xrt_device.h"
#include "xrt/xrt_uuid.h"

#pragma GCC visibility push(default)

namespace xrt {

// A value; copies stand for the same context.
class hw_context {
 public:
  enum class access_mode : uint8_t { exclusive = 0, shared = 1 };
  // Quality-of-service settings (QoS), such as "fps", by their names.
  using cfg_param_type = std::map<std::string, uint32_t>;
  using qos_type = cfg_param_type;

  hw_context() = default;
  // std::invalid_argument when the device does not know a program of that identifier. Both modes
  // are the same here, and quality-of-service settings have no effect.
  hw_context(const device& device, const uuid& xclbin_id, access_mode mode = access_mode::shared);
  hw_context(const device& device, const uuid& xclbin_id, const cfg_param_type&)
      : hw_context(device, xclbin_id) {}

  xrt::device get_device() const { return device_; }
  uuid get_xclbin_uuid() const { return id_; }
  access_mode get_mode() const { return mode_; }
  void update_qos(const qos_type&) {}
  explicit operator bool() const { return static_cast<bool>(device_); }

 private:
  xrt::device device_;
  uuid id_;
  access_mode mode_ = access_mode::shared;
};

}  // namespace xrt

#pragma GCC visibility pop

#endif  // XRT_XRT_HW_CONTEXT_H
