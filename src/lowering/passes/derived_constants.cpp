#include "lowering/passes/derived_constants.h"

namespace millrace::lowering {

graph::Constant DerivedConstants::get(const graph::Constant& source, const std::string& operation,
                                      const std::function<graph::Constant()>& make) {
  const Key key{source.bytes.data(), operation};
  {
    const std::lock_guard lock(mutex_);
    const auto known = entries_.find(key);
    if (known != entries_.end() && !known->second.source.expired())
      if (std::shared_ptr<const void> owner = known->second.owner.lock())
        return {known->second.bytes, std::move(owner)};
  }
  graph::Constant made = make();
  const std::lock_guard lock(mutex_);
  entries_.insert_or_assign(key, Entry{source.owner, made.bytes, made.owner});
  drop_expired();
  return made;
}

// Looks at all entries only once they have doubled, so that an insertion stays cheap.
void DerivedConstants::drop_expired() {
  if (entries_.size() <= limit_) return;
  std::erase_if(entries_, [](const auto& entry) {
    return entry.second.source.expired() || entry.second.owner.expired();
  });
  limit_ = 2 * entries_.size() + kLeastLimit;
}

}  // namespace millrace::lowering
