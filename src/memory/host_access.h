// HostAccess: begins and ends accesses of the processor to memory that needs it. Mapped files that
// can be truncated are checked before each access, since touching pages beyond the new end would
// raise SIGBUS; for a DMA-BUF the access is announced to its exporter.
//
// Memory that needs neither has an empty HostAccess, which costs one comparison. A value type that
// keeps the mapping alive; as thread-safe as a shared pointer.
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
  // Access to the first `bytes` bytes of the mapping; empty if the mapping needs no calls.
  HostAccess(const std::shared_ptr<const Mapping>& mapping, size_t bytes) noexcept;
  // Returns the access to memory of which only the address is known; empty if its first byte is in
  // no mapping that needs calls. Only the part within that mapping is considered.
  static HostAccess of(const void* data, size_t bytes) noexcept {
    if (known_mappings_.load(std::memory_order_relaxed) == 0) [[likely]]
      return {};
    return find(data, bytes);
  }

  // Returns the access to a part of the same memory.
  HostAccess part(const void* data, size_t bytes) const noexcept;

  explicit operator bool() const noexcept { return mapping_ != nullptr; }
  // Begins an access. kIoError when the file has been truncated, or when the exporter refuses: the
  // memory must not be accessed then. Since the file may be truncated right after the check, SIGBUS
  // becomes unlikely, not impossible.
  Status begin(Access access) const noexcept;
  // Ends an access. Must be called after each begin() that succeeded. kIoError when the exporter
  // refuses.
  Status end(Access access) const noexcept;

 private:
  friend class HostAccessEntry;
  static HostAccess find(const void* data, size_t bytes) noexcept;

  // The number of entries, which is read without a lock, because most programs have none. A relaxed
  // load suffices: a thread that has an address within a mapping got it after the mapping was
  // entered. Defined in libmillrace.so only, for all libraries that include this header.
  static std::atomic<size_t> known_mappings_;

  std::shared_ptr<const Mapping> mapping_;
  size_t bytes_ = 0;  // counted from the beginning of the mapping
};

// Calls work(), which returns a Status, between begin() and end().
template <class Work>
Status with_access(const HostAccess& memory, Access access, Work&& work) {
  MILLRACE_RETURN_IF_ERROR(memory.begin(access));
  Status status = work();
  Status ended = memory.end(access);
  return status.ok() ? ended : status;
}

// Registers a mapping, so that HostAccess::of() finds it as long as the entry exists.
class HostAccessEntry {
 public:
  // Requirement: the address of `mapping` is set.
  explicit HostAccessEntry(const std::shared_ptr<const Mapping>& mapping);
  ~HostAccessEntry();
  HostAccessEntry(const HostAccessEntry&) = delete;
  HostAccessEntry& operator=(const HostAccessEntry&) = delete;

 private:
  const std::byte* const data_;
};

}  // namespace millrace::memory
