// BindingCache: the bindings that executions have used, so that the next one with the same model
// and unchanged sets is a look into a table, and takes one reference instead of one for each
// tensor.
//
// A cached binding keeps the memory of its tensors: whoever ends or replaces memory calls clear().
//
// Any thread.
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
  // As bind().
  Result<std::shared_ptr<const Binding>> get(Model& model, const TensorSet& inputs,
                                             const TensorSet& outputs);
  // Forgets all bindings. Requests that have not completed keep theirs.
  void clear() noexcept;

 private:
  // The model is kept by the binding, so that no other one gets its address; versions are unique.
  struct Key {
    const Model* model;
    uint64_t inputs, outputs;  // versions
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const noexcept { return key.outputs; }
  };
  using Bindings = std::unordered_map<Key, std::shared_ptr<const Binding>, Hash>;

  // Threads with sets of their own hardly ever meet.
  struct alignas(64) Shard {
    std::mutex mutex;
    Bindings bindings;
  };
  static constexpr size_t kShards = 16;
  // Of a shard: programs that change a set with every execution leave bindings that are no use.
  static constexpr size_t kMost = 64;

  std::array<Shard, kShards> shards_;
};

}  // namespace millrace::nrt
