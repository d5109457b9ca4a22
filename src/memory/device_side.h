// DeviceSide: the device's own copy of memory that host and device otherwise share, kept apart to
// show what a missing sync does on hardware that is not coherent (strict sync).
//
// The host's writes cannot be seen, so their traces are: `seen` is the host's content as of the
// last sync. What differs from it, in lines of a cache, was written since. The device's writes are
// known: whoever runs a job says so.
//
// Ranges are named by host addresses within the memory. Labels name a tensor and who uses it, for
// people: each label is reported once, as a warning in the log; HookPoint::kSyncMissing comes every
// time. Any thread; calls are serialised, the bytes of a range are the business of who uses it.
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

// Whether the environment asks for strict sync: MILLRACE_STRICT_SYNC is set, and not "0".
bool strict_sync_requested() noexcept;

class DeviceSide {
 public:
  // Of the zero-filled memory at `host`, which must outlive it; `device_address` is that of the
  // first byte. kOutOfMemory.
  static Result<std::unique_ptr<DeviceSide>> create(std::byte* host, size_t bytes,
                                                    uint64_t device_address);
  DeviceSide(const DeviceSide&) = delete;
  DeviceSide& operator=(const DeviceSide&) = delete;
  // Reports results of jobs that never reached the host.
  ~DeviceSide();

  // Where the device has the byte that the host has at `data`.
  std::byte* device_of(const void* data) const noexcept { return device_.get() + offset_of(data); }
  // And the other way round.
  std::byte* host_of(const void* device) const noexcept {
    return host_ + (static_cast<const std::byte*>(device) - device_.get());
  }

  // Copies what the host has written since the last sync. A range that it has not written is left
  // alone, as a cache has nothing to write back.
  void sync_for_device(const void* data, size_t bytes);
  // Copies what jobs have written since the last sync; leaves the rest of the range alone.
  void sync_for_host(const void* data, size_t bytes);

  // Around a job that reads or writes the range on the device. Before reading without a sync:
  // reports host writes that the job will not see. Before writing: reports an earlier result that
  // neither the host nor another job has got.
  void before_read(const void* data, size_t bytes, const std::string& label);
  void before_write(const void* data, size_t bytes);
  // The job is done: until sync_for_host, the host does not see what it wrote.
  void written(const void* data, size_t bytes, const std::string& label);

 private:
  struct Range {
    size_t begin, end;
    size_t size() const noexcept { return end - begin; }
    Range within(Range other) const noexcept;
  };
  // What a job wrote and the host has not got.
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
