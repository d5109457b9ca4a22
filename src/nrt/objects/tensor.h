// Tensor: bytes with a name, in a core's memory, in the host's, or the caller's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "memory/bank.h"
#include "memory/buffer.h"
#include "nrt/nrt.h"
#include "nrt/objects/completion_count.h"
#include "nrt/objects/handles.h"

namespace millrace::nrt {

// The core of a tensor in the host's memory.
inline constexpr int kNoCore = -1;

// The memory behind tensors: slices share it, requests keep it until they have completed.
struct Storage {
  memory::Buffer memory;
  std::optional<memory::BankCharge> charge;
};

class Tensor {
 public:
  // Zero-filled, charged to `bank`; kOutOfMemory when it has no room.
  static Result<std::shared_ptr<Tensor>> allocate(memory::Bank& bank, int core, size_t bytes,
                                                  std::string name);
  // A tensor without memory, until some is attached.
  static std::shared_ptr<Tensor> without_memory(std::string name);
  // A tensor that shares the memory from `offset` on; a slice may be sliced again. kInvalidArgument
  // for a range outside.
  Result<std::shared_ptr<Tensor>> slice(size_t offset, size_t bytes, std::string name) const;

  // Replaces the memory by the caller's. Requests that are under way keep the old one.
  Status attach(void* data, size_t bytes);

  // kInvalidArgument, naming tensor and range, when the range leaves the tensor.
  Status check_range(uint64_t offset, uint64_t bytes) const;

  std::byte* data() const noexcept { return data_; }  // null without memory
  size_t size() const noexcept { return size_; }
  int core() const noexcept { return core_; }
  const std::string& name() const noexcept { return name_; }
  const std::shared_ptr<const Storage>& storage() const noexcept { return storage_; }
  uint64_t device_address() const noexcept;
  // To be begun and ended around each access to the range, which must lie in the tensor.
  memory::HostAccess access(size_t offset, size_t bytes) const noexcept;

  // How many executions have written it as an output since the last reset.
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

// kInvalidArgument for tensors on different cores; those of the host go with any core.
Status check_same_core(const Tensor& one, const Tensor& other);

}  // namespace millrace::nrt

struct nrt_tensor : millrace::nrt::Handle<millrace::nrt::Tensor> {};

namespace millrace::nrt {
using TensorHandles = Handles<nrt_tensor>;
}  // namespace millrace::nrt
