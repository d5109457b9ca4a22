// Regions of shared memory that clients on this machine have registered, by the protocol's
// extension for system shared memory: inputs are read from them, and outputs written to them.
//
// A client may change or shorten its memory at any time. So the server never maps it: it reads and
// writes through a descriptor, by calls that fail where a mapping would end the process. Inputs are
// copied once, before they are looked at. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"

namespace millrace::serve {

class SharedRegion {
 public:
  // Opens the object that `key` names, as shm_open() does. kInvalidArgument if there is none, or if
  // the part of it that begins at `offset` is not in it.
  static Result<std::shared_ptr<const SharedRegion>> open(std::string name, std::string key,
                                                          uint64_t offset, uint64_t bytes);

  const std::string& name() const { return name_; }
  const std::string& key() const { return key_; }
  uint64_t offset() const { return offset_; }
  uint64_t bytes() const { return bytes_; }

  // Copy bytes that begin at `at` in the region. kInvalidArgument if they are not in it, or if the
  // object has been made shorter since; what has been copied by then stays.
  Status read(uint64_t at, std::span<std::byte> to) const;
  Status write(uint64_t at, std::span<const std::byte> from) const;

 private:
  SharedRegion(std::string name, std::string key, uint64_t offset, uint64_t bytes, UniqueFd object)
      : name_(std::move(name)),
        key_(std::move(key)),
        offset_(offset),
        bytes_(bytes),
        object_(std::move(object)) {}

  Status check(uint64_t at, uint64_t bytes) const;
  Status too_short() const;

  const std::string name_, key_;
  const uint64_t offset_, bytes_;
  const UniqueFd object_;
};

// The part of a region that holds a tensor.
struct RegionPart {
  std::shared_ptr<const SharedRegion> region;
  uint64_t offset = 0, bytes = 0;  // in the region
};

class SharedRegions {
 public:
  // The most regions at a time. Each of them keeps a descriptor.
  static constexpr size_t kMost = 1024;

  // kInvalidArgument if the name is taken, or the region is none; kResourceExhausted if there are
  // too many.
  Status add(const std::string& name, const std::string& key, uint64_t offset, uint64_t bytes);
  // Forgets a region, or all if the name is empty. Requests that use it keep it.
  void remove(std::string_view name);
  // Null if there is none.
  std::shared_ptr<const SharedRegion> find(std::string_view name) const;
  std::vector<std::shared_ptr<const SharedRegion>> all() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const SharedRegion>, std::less<>> regions_;
};

}  // namespace millrace::serve
