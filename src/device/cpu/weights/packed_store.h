// PackedStore: the packed constants of the programs that a device has loaded, so that programs of
// one model share them.
//
// A model with open shapes has a program for each set of shapes, and an archive with profiles may
// be loaded in several. They read the same constants, mostly in the same layouts, so only the first
// program packs them.
//
// The store keeps nothing alive: memory is freed with the last program that reads it. Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "graph/graph.h"

namespace millrace::device::cpu {

class PackedStore {
 public:
  // A constant, found by where its elements lie, and the text that determines how they are packed.
  using Key = std::pair<const std::byte*, std::string>;

  // Returns the packed elements; null if no program that lives has packed them.
  std::shared_ptr<const std::byte> find(const Key& key);
  // Lets later programs find `packed`. `source` is the constant of the key: as long as `packed` can
  // be found, its memory stays as it is, so that no other constant can lie there.
  void keep(Key key, const graph::Constant& source, const std::shared_ptr<const std::byte>& packed);
  // Frees the entries of constants that can no longer be found.
  void drop_expired();

 private:
  struct Entry {
    std::weak_ptr<const std::byte> packed;
    std::weak_ptr<const void> source;
  };
  std::mutex mutex_;
  std::map<Key, Entry> entries_;
};

}  // namespace millrace::device::cpu
