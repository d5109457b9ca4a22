// DeviceSide: the device's own copy of memory that host and device otherwise share. It exists only
// under strict sync (MILLRACE_STRICT_SYNC), which simulates hardware whose caches are not coherent
// and reports missing syncs.
//
// Host writes cannot be observed, so they are found by comparison: `seen` has the contents of the
// host's memory at the last sync, and each cache line that differs from it was written since.
// Device writes are known, because the code that runs a job reports them (written()).
//
// Ranges are given by host addresses within the memory. A label is a human-readable name of a
// tensor and its user; a warning is logged once per label, while HookPoint::kSyncMissing is emitted
// every time. Thread-safe: a mutex serialises calls. The caller synchronises access to the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "memory/heap_block.h"

namespace millrace::memory {

// True if the environment requests strict sync: MILLRACE_STRICT_SYNC is set, but not to 0 or false.
bool strict_sync_requested() noexcept;

class DeviceSide {
 public:
  // Makes the copy of the zero-filled memory at `host`, which must outlive it; `device_address` is
  // the device address of the first byte. kOutOfMemory.
  static Result<std::unique_ptr<DeviceSide>> create(std::byte* host, size_t bytes,
                                                    uint64_t device_address);
  DeviceSide(const DeviceSide&) = delete;
  DeviceSide& operator=(const DeviceSide&) = delete;
  // Reports the results of jobs that were never synced to the host.
  ~DeviceSide();

  // Returns the address in the device's copy of the byte at the host address `data`.
  std::byte* device_of(const void* data) const noexcept { return device_.get() + offset_of(data); }
  // Returns its device address, by which HookPoint::kSyncMissing names it.
  uint64_t address_of(const void* data) const noexcept { return device_address_ + offset_of(data); }

  // Copies the lines that the host has written since the last sync to the device, like the
  // write-back of a cache. Other lines are not changed.
  void sync_for_device(const void* data, size_t bytes);
  // Copies the results that jobs have written since the last sync to the host. The rest of the
  // range is not changed.
  void sync_for_host(const void* data, size_t bytes);

  // Must be called before a job reads the range on the device without a sync. Reports host writes
  // that the job will not see.
  void before_read(const void* data, size_t bytes, const std::string& label);
  // Must be called before a job writes the range. Reports an earlier result in it that neither the
  // host nor another job has read.
  void before_write(const void* data, size_t bytes);
  // Must be called when a job has written the range. The host does not see the result until
  // sync_for_host().
  void written(const void* data, size_t bytes, const std::string& label);

 private:
  struct Range {
    size_t begin, end;
    size_t size() const noexcept { return end - begin; }
    Range within(Range other) const noexcept;
  };
  // A result that a job has written and that has not been synced to the host.
  struct Unfetched {
    Range range;
    std::string label;
    bool read_by_a_job;
  };

  DeviceSide(std::byte* host, size_t bytes, uint64_t device_address) noexcept
      : host_(host), bytes_(bytes), device_address_(device_address) {}

  size_t offset_of(const void* data) const noexcept {
    return static_cast<const std::byte*>(data) - host_;
  }
  Range range_of(const void* data, size_t bytes) const noexcept;
  template <class Visit>
  void for_each_written_line(Range range, Visit&& visit) const;
  bool host_writes_missing(Range range) const;
  void forget_unfetched(Range range);
  void report_lost(const Unfetched& result);
  void report(const Range& range, uint64_t direction, const std::string& label,
              const char* what_is_missing);

  std::byte* const host_;
  const size_t bytes_;
  const uint64_t device_address_;
  HeapBlock device_, seen_;

  std::mutex mutex_;
  std::vector<Unfetched> unfetched_;
  std::set<std::string> reported_;  // the labels that have been logged
};

}  // namespace millrace::memory
