// DerivedConstants: constants that passes compute from those of a model, shared by the graphs that
// are made of one model for different shapes.
//
// Without it each of these graphs would have its own copy of all weights in another type, and the
// device would pack each copy anew. It keeps nothing alive: a constant is freed with the last graph
// that has it. Thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "graph/graph.h"

namespace millrace::lowering {

class DerivedConstants {
 public:
  // Returns make(), or what it returned before for the same elements and the same `operation`, if a
  // graph still has that. Requirement: the result depends on both alone.
  graph::Constant get(const graph::Constant& source, const std::string& operation,
                      const std::function<graph::Constant()>& make);

 private:
  struct Entry {
    std::weak_ptr<const void> source;  // its elements stay at their address as long as it lives
    std::span<const std::byte> bytes;
    std::weak_ptr<const void> owner;  // of `bytes`
  };
  using Key = std::pair<const std::byte*, std::string>;
  static constexpr size_t kLeastLimit = 64;

  void drop_expired();  // call with mutex_ locked

  std::mutex mutex_;
  std::map<Key, Entry> entries_;
  size_t limit_ = kLeastLimit;
};

}  // namespace millrace::lowering
