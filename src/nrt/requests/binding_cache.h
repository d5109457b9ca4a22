// BindingCache: a hash table of the bindings that executions have used. An execution with the same
// model and unchanged sets reuses its binding, which costs one reference count instead of a look-up
// and a reference for each tensor.
//
// A cached binding keeps the memory of its tensors alive, so a call that frees or replaces memory,
// or that unloads a model, must call clear().
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
  explicit BindingCache(UpdatedInputs updated) : updated_(updated) {}

  // Returns the cached binding, or else makes one as bind() does and stores it.
  Result<std::shared_ptr<const Binding>> get(Model& model, const TensorSet& inputs,
                                             const TensorSet& outputs);
  // Removes all bindings. Requests in progress keep theirs.
  void clear() noexcept;

 private:
  // A key identifies its entry: the binding keeps its model alive, so no other model can get the
  // same address, and versions of sets are unique.
  struct Key {
    const Model* model;
    uint64_t inputs, outputs;  // TensorSet::version() of the two sets
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const noexcept { return key.outputs; }
  };
  using Bindings = std::unordered_map<Key, std::shared_ptr<const Binding>, Hash>;

  // The table is sharded, so that threads which use different sets rarely contend for a mutex.
  struct alignas(64) Shard {
    std::mutex mutex;
    Bindings bindings;
  };
  static constexpr size_t kShards = 16;
  // The capacity of a shard, which is emptied when it is full: programs that change a set before
  // every execution leave bindings that are never used again.
  static constexpr size_t kMost = 64;

  const UpdatedInputs updated_;
  std::array<Shard, kShards> shards_;
};

}  // namespace millrace::nrt
