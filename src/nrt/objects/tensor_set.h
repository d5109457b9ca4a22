// TensorSet: tensors by name, borrowed. Several threads may read while no thread adds.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "nrt/objects/handles.h"
#include "nrt/objects/tensor.h"

namespace millrace::nrt {

class TensorSet {
 public:
  // Adds, or replaces what had the name.
  void add(std::string name, nrt_tensor* tensor) {
    tensors_.insert_or_assign(std::move(name), tensor);
    version_ = next_version();
  }
  // Null when no tensor has the name. The tensor may have been freed since it was added.
  nrt_tensor* find(std::string_view name) const {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? nullptr : found->second;
  }
  // Sets of one version, such as a set and its unchanged copy, have the same tensors under the same
  // names.
  uint64_t version() const noexcept { return version_; }

 private:
  static uint64_t next_version() noexcept {
    static std::atomic<uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const noexcept {
      return std::hash<std::string_view>()(name);
    }
  };
  std::unordered_map<std::string, nrt_tensor*, Hash, std::equal_to<>> tensors_;
  uint64_t version_ = next_version();
};

// The published type is void; this is what the pointer points to.
struct TensorSetHandle : Handle<TensorSet> {};
using TensorSetHandles = Handles<TensorSetHandle>;

// The set of a live handle; null for any other, and for null.
inline TensorSet* find_set(const nrt_tensor_set_t* handle) noexcept {
  return TensorSetHandles::find(static_cast<const TensorSetHandle*>(handle)).get();
}

}  // namespace millrace::nrt
