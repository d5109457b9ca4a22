// Device: what computes, and the owner of the units made through it.
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
  // Threads that run jobs; 0: as many as MILLRACE_LANES says, or one per core this process may use.
  // Counts where the process has no device of that name yet.
  uint32_t lanes = 0;
};

struct LoadOptions {
  // Bytes that the model may take: its weights, working memory for each lane, and the tensors of
  // one job. 0: any number. MILLRACE_MEMORY_LIMIT, if it is set, makes it less.
  uint64_t memory_limit = 0;
};

class Device {
 public:
  // The process's device of that name, which all objects opened with it share:
  //   "cpu"    the software NPU
  //   "null"   completes every job at once and leaves the outputs as they are: measures the runtime
  //   "faulty-cpu", "faulty-null"   the same with injected faults, for tests (docs/devices.md)
  //   any other NAME   the plugin libmillrace-NAME.so
  // If the environment variable MILLRACE_FAULTS is set, for example to "fail=3", it is the
  // device with fault injection in front of it. kNotFound when there is none, kUnsupported when the
  // plugin does not fit this library, kInvalidArgument when the name or the variable makes no
  // sense.
  static Result<Device> open(std::string_view name = "cpu", DeviceOptions options = {});

  // Closes every unit made through this object (Unit::close): jobs that have not started complete
  // with kCancelled, running ones finish, and every waiting thread is woken. Blocks until then, and
  // no longer than a unit's close_patience for a job that hangs: that one completes with kHung.
  // Afterwards Unit and Job handles still answer; what needs the device says kClosed.
  //
  // When it returns no job reads or writes the memory it names, with one exception: a job that hung
  // still may, until the device lets go of it. Memory of a Buffer is kept alive for it; memory
  // named by pointer must not be freed after a kHung.
  ~Device();
  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;  // first closes what it held

  // Loads the archive at `path` (a .rai file, or a directory of the same content). Blocks while
  // kernels are chosen and weights are packed. kNotFound, kIoError, kCorruptData with what is wrong
  // in the archive, kUnsupported naming every operator this device has no kernel for, kOutOfMemory
  // when the model needs more than memory_limit. That is looked at twice: what the archive declares
  // before anything is allocated for it, and what the device plans before a lane has working
  // memory.
  Result<Model> load(const std::string& path, LoadOptions options = {}) const;

  // A new unit on the device's lanes. kInvalidArgument for a depth outside 1 to 65,536,
  // kResourceExhausted when all 65,535 unit ids of the process are taken or the system refuses
  // every thread for the lanes, kNoLane when all lanes were lost to jobs that hang.
  Result<Unit> create_unit(UnitOptions options = {});

  const std::string& name() const noexcept;
  // A human-readable text that says what computes, and in which version.
  const std::string& description() const noexcept;
  // Threads that run jobs now.
  uint32_t lanes() const noexcept;

 private:
  class Impl;
  explicit Device(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace
