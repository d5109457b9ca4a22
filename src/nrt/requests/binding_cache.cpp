#include "nrt/requests/binding_cache.h"

#include <utility>

namespace millrace::nrt {

Result<std::shared_ptr<const Binding>> BindingCache::get(Model& model, const TensorSet& inputs,
                                                         const TensorSet& outputs) {
  const Key key{&model, inputs.version(), outputs.version()};
  Shard& shard = shards_[key.outputs % kShards];
  {
    const std::lock_guard lock(shard.mutex);
    if (const auto found = shard.bindings.find(key); found != shard.bindings.end())
      return found->second;
  }
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<const Binding> binding,
                            bind(model.shared_from_this(), inputs, outputs, updated_));
  Bindings forgotten;  // destroyed after the lock: it may hold the last reference to a model
  const std::lock_guard lock(shard.mutex);
  if (shard.bindings.size() >= kMost) forgotten.swap(shard.bindings);
  shard.bindings.emplace(key, binding);
  return binding;
}

void BindingCache::clear() noexcept {
  for (Shard& shard : shards_) {
    Bindings forgotten;
    const std::lock_guard lock(shard.mutex);
    forgotten.swap(shard.bindings);
  }
}

}  // namespace millrace::nrt
