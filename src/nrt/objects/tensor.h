// Tensor: a named block of bytes in the memory of a core, in host memory, or in a buffer that the
// program owns. It has no element type or shape; those belong to the model. A program must not
// attach memory to a tensor while another thread uses it; all other functions are thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "memory/bank.h"
#include "memory/buffer.h"
#include "nrt/counters/process_counters.h"
#include "nrt/nrt.h"
#include "nrt/objects/completion_count.h"
#include "nrt/objects/handles.h"

namespace millrace::nrt {

// The core number of a tensor that belongs to no core.
inline constexpr int kNoCore = -1;

// The memory of a tensor, shared by reference count: slices and requests keep it alive.
struct Storage {
  memory::Buffer memory;
  std::optional<memory::BankCharge> charge;
  CountedBytes counted;
};

class Tensor {
 public:
  // Allocates zero-filled memory and charges it to `bank`; kOutOfMemory when the bank is full.
  static Result<std::shared_ptr<Tensor>> allocate(memory::Bank& bank, int core, size_t bytes,
                                                  std::string name);
  // Returns a tensor that has no memory until attach() is called.
  static std::shared_ptr<Tensor> without_memory(std::string name);
  // Returns a tensor that shares the memory of the given range, in bytes. A slice may be sliced
  // again. kInvalidArgument for an empty range, or one that exceeds the tensor.
  Result<std::shared_ptr<Tensor>> slice(size_t offset, size_t bytes, std::string name) const;

  // Replaces the memory by a buffer of the caller, which keeps the ownership. The tensor then
  // belongs to no core. Requests in progress keep the old memory.
  Status attach(void* data, size_t bytes);

  // kInvalidArgument, naming the tensor and the range, when the range exceeds the tensor.
  Status check_range(uint64_t offset, uint64_t bytes) const;

  std::byte* data() const noexcept { return data_; }  // null without memory
  size_t size() const noexcept { return size_; }
  int core() const noexcept { return core_; }
  const std::string& name() const noexcept { return name_; }
  const std::shared_ptr<const Storage>& storage() const noexcept { return storage_; }
  uint64_t device_address() const noexcept;
  // Returns the host access that must be begun before each access to the range and ended after it
  // (memory/host_access.h). Requirement: check_range() accepts the range.
  memory::HostAccess access(size_t offset, size_t bytes) const noexcept;

  // Counts the executions that have written the tensor as an output since the last reset.
  CompletionCount& completions() noexcept { return completions_; }

 private:
  Tensor(std::string name, int core) : name_(std::move(name)), core_(core) {}

  const std::string name_;
  int core_;
  std::shared_ptr<const Storage> storage_;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  CompletionCount completions_;
};

// kInvalidArgument for tensors on different cores. One without a core goes with any.
Status check_same_core(const Tensor& one, const Tensor& other);

}  // namespace millrace::nrt

struct nrt_tensor : millrace::nrt::Handle<millrace::nrt::Tensor> {};

namespace millrace::nrt {
using TensorHandles = Handles<nrt_tensor>;
}  // namespace millrace::nrt
