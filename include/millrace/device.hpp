// Device: a handle to a backend that loads models and runs jobs. It closes the units made through
// it.
//
// Thread-safe, except that an object must not be moved, assigned or destroyed while another thread
// uses it. A moved-from device may only be assigned to or destroyed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "millrace/model.hpp"
#include "millrace/status.hpp"
#include "millrace/unit.hpp"

namespace millrace {

struct DeviceOptions {
  // The number of threads that run jobs. 0 means the environment variable MILLRACE_LANES or, if
  // that is not set, one per core that this process may use. It applies only if the process has no
  // device of that name yet.
  uint32_t lanes = 0;
};

struct LoadOptions {
  // The maximum number of bytes that the model may need: its weights, working memory for each lane,
  // and the tensors of one job. 0 means no limit. The environment variable MILLRACE_MEMORY_LIMIT
  // may set a lower limit.
  uint64_t memory_limit = 0;
  // The name of one of the archive's shape profiles (millrace compile --profile). The model then
  // has the shapes of this profile and is static. Empty: dimensions that the archive leaves open
  // stay open.
  std::string shape_profile{};
};

class Device {
 public:
  // Opens the process's device of that name, which all objects opened with the name share:
  //   "cpu"    the software NPU
  //   "null"   completes every job at once and leaves the outputs unchanged: measures the runtime
  //   "faulty-cpu", "faulty-null"   these two with fault injection, for tests (docs/devices.md)
  //   any other NAME   the plugin libmillrace-NAME.so
  // If the environment variable MILLRACE_FAULTS is set, for example to "fail=3", faults are
  // injected into the jobs of the device. kNotFound if there is no such device, kUnsupported if the
  // plugin was built for another version of Millrace, kInvalidArgument if the name or the variable
  // is invalid.
  static Result<Device> open(std::string_view name = "cpu", DeviceOptions options = {});

  // Closes every unit made through this object (Unit::close): jobs that have not started complete
  // with kCancelled, running ones finish, and every waiting thread is woken. Blocks until then, and
  // no longer than a unit's close_patience for a job that hangs: that one completes with kHung.
  // Afterwards Unit and Job handles still return results; calls that need the device return
  // kClosed.
  //
  // When it returns, no job accesses its tensors any more, with one exception: a job that hung
  // still may, until its thread returns. The memory of a Buffer is kept alive for it; memory that
  // was bound by pointer must not be freed after a kHung.
  ~Device();
  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;  // first closes what it held

  // Loads the archive at `path` (a .rai file, or a directory of the same content). Blocks while
  // kernels are chosen and weights are packed. Fails with
  //   kNotFound, kIoError  the archive cannot be read
  //   kCorruptData         the archive is invalid; the message says where
  //   kInvalidArgument     it has no shape profile of that name
  //   kUnsupported         the message names every operator for which the device has no kernel
  //   kOutOfMemory         the model needs more than memory_limit. The sizes in the archive are
  //                        checked before anything is allocated, and the sizes that the device
  //                        plans before a lane has working memory.
  Result<Model> load(const std::string& path, LoadOptions options = {}) const;

  // Creates a unit on the device's lanes. kInvalidArgument for a depth outside 1 to 65,536,
  // kResourceExhausted if all 65,535 unit ids of the process are taken or the system refuses every
  // thread for the lanes, kNoLane if all lanes were lost to jobs that hang.
  Result<Unit> create_unit(UnitOptions options = {});

  const std::string& name() const noexcept;
  // Returns a human-readable text that names the backend and its version.
  const std::string& description() const noexcept;
  // Returns the current number of threads that run jobs.
  uint32_t lanes() const noexcept;

 private:
  class Impl;
  explicit Device(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace
