// DeviceSide: the device's own copy of memory that host and device otherwise share. It exists under
// strict sync only, to show what a missing sync does on hardware that is not coherent.
//
// Writes of the host cannot be observed, so they are found by comparison: `seen` is the host's
// content as of the last sync, and each cache line that differs from it was written since. Writes
// of the device are known, because the code that runs a job reports them (written()).
//
// Ranges are given by host addresses within the memory. A label is a human-readable name of a
// tensor and its user. For each label one warning is logged, while HookPoint::kSyncMissing is
// emitted every time. Thread-safe: calls are serialised. The caller synchronises access to the
// bytes themselves.
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

// Whether the environment asks for strict sync: MILLRACE_STRICT_SYNC is set, and neither
// 0 nor false.
bool strict_sync_requested() noexcept;

class DeviceSide {
 public:
  // A copy of the zero-filled memory at `host`, which must outlive it; `device_address` is the
  // address of the first byte. kOutOfMemory.
  static Result<std::unique_ptr<DeviceSide>> create(std::byte* host, size_t bytes,
                                                    uint64_t device_address);
  DeviceSide(const DeviceSide&) = delete;
  DeviceSide& operator=(const DeviceSide&) = delete;
  // Reports results of jobs that never reached the host.
  ~DeviceSide();

  // The address in the device's copy of the byte that the host has at `data`.
  std::byte* device_of(const void* data) const noexcept { return device_.get() + offset_of(data); }

  // Copies the lines that the host has written since the last sync. The other lines stay as they
  // are, like those that a cache has nothing to write back for.
  void sync_for_device(const void* data, size_t bytes);
  // Copies what jobs have written since the last sync; the rest of the range stays as it is.
  void sync_for_host(const void* data, size_t bytes);

  // To be called before a job reads the range on the device without a sync: reports host writes
  // that the job will not see.
  void before_read(const void* data, size_t bytes, const std::string& label);
  // To be called before a job writes the range: reports an earlier result in it that neither the
  // host nor another job has read.
  void before_write(const void* data, size_t bytes);
  // To be called when the job is done: until sync_for_host, the host does not see what it wrote.
  void written(const void* data, size_t bytes, const std::string& label);

 private:
  struct Range {
    size_t begin, end;
    size_t size() const noexcept { return end - begin; }
    Range within(Range other) const noexcept;
  };
  // A result that a job wrote and that the host has not fetched by a sync.
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
  std::set<std::string> reported_;  // labels
};

}  // namespace millrace::memory
