// HostAccess: begins and ends the processor's access to memory, if that is the memory of a file of
// other origin or of a dma-buf. A file that was truncated is refused, since touching
// the lost pages would end the process with SIGBUS, and the exporter of a dma-buf is told.
//
// Memory that needs neither has an empty access, which costs a comparison. A value, which keeps the
// mapping alive; thread-safe as a shared pointer is.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "base/status.h"
#include "memory/dma_buf.h"

namespace millrace::memory {

class Mapping;

class HostAccess {
 public:
  HostAccess() noexcept = default;
  // Access to the first `bytes` bytes of the mapping; empty if that needs nothing.
  HostAccess(const std::shared_ptr<const Mapping>& mapping, size_t bytes) noexcept;
  // Access to memory that is known by its address only; empty if its first byte lies in no mapping
  // of this library that needs anything. Memory beyond that mapping is not looked at.
  static HostAccess of(const void* data, size_t bytes) noexcept {
    if (known_mappings_.load(std::memory_order_relaxed) == 0) [[likely]]
      return {};
    return find(data, bytes);
  }

  // Access to a part of the same memory.
  HostAccess part(const void* data, size_t bytes) const noexcept;

  explicit operator bool() const noexcept { return mapping_ != nullptr; }
  // kIoError when the file no longer has the bytes, which is then not to be accessed, or when the
  // exporter refuses. The file may be truncated right after this has returned, so that asking
  // before each use makes the signal unlikely and not impossible.
  Status begin(Access access) const noexcept;
  // To be called after each begin() that succeeded. kIoError when the exporter refuses.
  Status end(Access access) const noexcept;

 private:
  friend class HostAccessEntry;
  static HostAccess find(const void* data, size_t bytes) noexcept;

  // Entries; read without a lock, because most programs have none. Who knows an address in a
  // mapping has learnt it after the mapping was entered. Defined in one library, for all that
  // include this.
  static std::atomic<size_t> known_mappings_;

  std::shared_ptr<const Mapping> mapping_;
  size_t bytes_ = 0;  // from the beginning of the mapping
};

// Calls work(), which returns a Status, between begin() and end().
template <class Work>
Status with_access(const HostAccess& memory, Access access, Work&& work) {
  MILLRACE_RETURN_IF_ERROR(memory.begin(access));
  Status status = work();
  Status ended = memory.end(access);
  return status.ok() ? ended : status;
}

// Makes a mapping known to HostAccess::of for as long as the entry lives.
class HostAccessEntry {
 public:
  // Requirement: `mapping` has its address.
  explicit HostAccessEntry(const std::shared_ptr<const Mapping>& mapping);
  ~HostAccessEntry();
  HostAccessEntry(const HostAccessEntry&) = delete;
  HostAccessEntry& operator=(const HostAccessEntry&) = delete;

 private:
  const std::byte* const data_;
};

}  // namespace millrace::memory
