// BindingCache: the bindings that executions have used. The next execution with the same model and
// unchanged sets finds its binding in a table, and takes one reference instead of one for each
// tensor.
//
// A cached binding keeps the memory of its tensors: a call that frees or replaces memory must call
// clear().
//
// Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/status.h"
#include "nrt/requests/binding.h"

namespace millrace::nrt {

class BindingCache {
 public:
  // Like bind().
  Result<std::shared_ptr<const Binding>> get(Model& model, const TensorSet& inputs,
                                             const TensorSet& outputs);
  // Removes all bindings. Requests that have not completed keep theirs.
  void clear() noexcept;

 private:
  // The binding keeps its model, so that no other model gets the address; versions are unique.
  struct Key {
    const Model* model;
    uint64_t inputs, outputs;  // versions
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const noexcept { return key.outputs; }
  };
  using Bindings = std::unordered_map<Key, std::shared_ptr<const Binding>, Hash>;

  // Threads that use different sets rarely need the same mutex.
  struct alignas(64) Shard {
    std::mutex mutex;
    Bindings bindings;
  };
  static constexpr size_t kShards = 16;
  // Per shard; then the shard is emptied. Programs that change a set before every execution leave
  // bindings that are never used again.
  static constexpr size_t kMost = 64;

  std::array<Shard, kShards> shards_;
};

}  // namespace millrace::nrt
