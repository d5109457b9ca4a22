// Host writes are found by comparing each 64-byte line with its contents at the last sync; results
// of jobs are kept as a list of ranges that have not been synced to the host.
#include "memory/device_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/hooks.h"
#include "base/log.h"
#include "base/settings/environment.h"

namespace millrace::memory {
namespace {

constexpr size_t kLine = 64;
constexpr uint64_t kTowardsDevice = 0, kTowardsHost = 1;

}  // namespace

bool strict_sync_requested() noexcept {
  const Result<bool> wanted = switch_variable("MILLRACE_STRICT_SYNC", false);
  return !wanted.ok() || *wanted;
}

Result<std::unique_ptr<DeviceSide>> DeviceSide::create(std::byte* host, size_t bytes,
                                                       uint64_t device_address) {
  std::unique_ptr<DeviceSide> made(new DeviceSide(host, bytes, device_address));
  made->device_ = make_heap_block(bytes);
  made->seen_ = make_heap_block(bytes);
  if (made->device_ && made->seen_) return made;
  return Status(StatusCode::kOutOfMemory,
                fmt::format("cannot allocate {} bytes for the device's copy of {} bytes of memory",
                            2 * bytes, bytes));
}

DeviceSide::~DeviceSide() {
  for (const Unfetched& result : unfetched_) report_lost(result);
}

DeviceSide::Range DeviceSide::Range::within(Range other) const noexcept {
  const size_t from = std::max(begin, other.begin);
  return {from, std::max(from, std::min(end, other.end))};
}

DeviceSide::Range DeviceSide::range_of(const void* data, size_t bytes) const noexcept {
  const size_t offset = offset_of(data);
  return Range{offset, offset + bytes}.within({0, bytes_});
}

// Calls visit(line) for each cache line, or part of one, of the range that the host has written.
template <class Visit>
void DeviceSide::for_each_written_line(Range range, Visit&& visit) const {
  for (size_t at = range.begin; at < range.end;) {
    const size_t next = std::min(at - at % kLine + kLine, range.end);
    if (std::memcmp(host_ + at, seen_.get() + at, next - at) != 0) visit(Range{at, next});
    at = next;
  }
}

void DeviceSide::sync_for_device(const void* data, size_t bytes) {
  const std::lock_guard lock(mutex_);
  for_each_written_line(range_of(data, bytes), [this](Range line) {
    std::memcpy(device_.get() + line.begin, host_ + line.begin, line.size());
    std::memcpy(seen_.get() + line.begin, host_ + line.begin, line.size());
    forget_unfetched(line);
  });
}

void DeviceSide::sync_for_host(const void* data, size_t bytes) {
  const std::lock_guard lock(mutex_);
  const Range range = range_of(data, bytes);
  for (const Unfetched& result : unfetched_) {
    const Range part = result.range.within(range);
    std::memcpy(host_ + part.begin, device_.get() + part.begin, part.size());
    std::memcpy(seen_.get() + part.begin, device_.get() + part.begin, part.size());
  }
  forget_unfetched(range);
}

// True if the host has written a line of the range whose contents the device's copy does not have.
bool DeviceSide::host_writes_missing(Range range) const {
  bool missing = false;
  for_each_written_line(range, [&](Range line) {
    missing |= std::memcmp(host_ + line.begin, device_.get() + line.begin, line.size()) != 0;
  });
  return missing;
}

void DeviceSide::before_read(const void* data, size_t bytes, const std::string& label) {
  const std::lock_guard lock(mutex_);
  const Range range = range_of(data, bytes);
  for (Unfetched& result : unfetched_)
    if (result.range.within(range).size() != 0) result.read_by_a_job = true;
  if (host_writes_missing(range))
    report(range, kTowardsDevice, label,
           "the job reads stale data, because host writes were not synced to the device; call "
           "sync_buffer() after writing");
}

void DeviceSide::before_write(const void* data, size_t bytes) {
  const std::lock_guard lock(mutex_);
  const Range range = range_of(data, bytes);
  for (const Unfetched& result : unfetched_)
    if (result.range.within(range).size() != 0) report_lost(result);
  forget_unfetched(range);
}

void DeviceSide::written(const void* data, size_t bytes, const std::string& label) {
  const std::lock_guard lock(mutex_);
  const Range range = range_of(data, bytes);
  forget_unfetched(range);
  unfetched_.push_back({range, label, false});
}

// Removes the range from the unfetched results, and keeps their parts outside of it.
void DeviceSide::forget_unfetched(Range range) {
  if (unfetched_.empty()) return;
  std::vector<Unfetched> kept;
  for (Unfetched& result : unfetched_) {
    const Range before = result.range.within({0, range.begin});
    const Range after = result.range.within({range.end, bytes_});
    if (before.size() != 0) kept.push_back({before, result.label, result.read_by_a_job});
    if (after.size() != 0) kept.push_back({after, std::move(result.label), result.read_by_a_job});
  }
  unfetched_ = std::move(kept);
}

void DeviceSide::report_lost(const Unfetched& result) {
  const Range& range = result.range;
  if (result.read_by_a_job ||
      std::memcmp(host_ + range.begin, device_.get() + range.begin, range.size()) == 0)
    return;
  report(range, kTowardsHost, result.label,
         "the host has stale data, because the result of a job was not synced to it; call "
         "sync_buffer() after the job");
}

void DeviceSide::report(const Range& range, uint64_t direction, const std::string& label,
                        const char* what_is_missing) {
  emit(HookPoint::kSyncMissing, device_address_ + range.begin, direction);
  if (reported_.insert(label).second)
    log(LogLevel::kWarning, "sync", fmt::format("{}: {}", label, what_is_missing));
}

}  // namespace millrace::memory
