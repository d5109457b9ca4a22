// TensorSet: maps names to tensor handles, which it does not own. Several threads may read a set
// as long as no thread adds to it.
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
  // Adds a tensor, or replaces the one of that name.
  void add(std::string name, nrt_tensor* tensor) {
    tensors_.insert_or_assign(std::move(name), tensor);
    version_ = next_version();
  }
  // Returns null when no tensor has the name. The program may have freed the tensor meanwhile.
  nrt_tensor* find(std::string_view name) const {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? nullptr : found->second;
  }
  // Two sets of the same version, such as a set and its unchanged copy, map the same names to the
  // same tensors. Every change gives a set a version that is new in the process.
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

// The type behind the public nrt_tensor_set_t*, which is declared as void.
struct TensorSetHandle : Handle<TensorSet> {};
using TensorSetHandles = Handles<TensorSetHandle>;

// Returns the set of a live handle; null for any other handle, including null.
inline TensorSet* find_set(const nrt_tensor_set_t* handle) noexcept {
  return TensorSetHandles::find(static_cast<const TensorSetHandle*>(handle)).get();
}

}  // namespace millrace::nrt
