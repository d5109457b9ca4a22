#include "nrt/counters/counter_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include "memory/published_file.h"

namespace millrace::nrt {
namespace {

// Maps the file for reading; null unless it has such contents.
std::shared_ptr<const CounterFile> map_counters(pid_t pid) {
  const std::shared_ptr<std::byte> bytes = memory::map_published_file(
      pid, CounterFile::kName, sizeof(CounterFile), memory::PublishedAccess::kRead);
  const auto counters = std::reinterpret_pointer_cast<const CounterFile>(bytes);
  if (counters == nullptr || counters->signature != CounterFile::kSignature) return nullptr;
  return counters;
}

bool is_running_in(pid_t pid, const CounterFile& counters) noexcept {
  const uint32_t count = counters.count.load(std::memory_order_acquire);
  return count != 0 && count <= kMostCores && counters.pid.load() == pid;
}

}  // namespace

Result<std::shared_ptr<const CounterFile>> counters_of(pid_t pid) {
  std::shared_ptr<const CounterFile> found;
  if (pid == ::getpid()) {
    found = {&ProcessCounters::of_process().contents(), [](const CounterFile*) {}};
  } else {
    found = map_counters(pid);
  }
  if (found != nullptr && is_running_in(pid, *found)) return found;
  return Status(StatusCode::kNotFound,
                fmt::format("NRT does not run in process {}, or it is another user's", pid));
}

std::vector<ProcessWithCounters> processes_with_counters() {
  std::vector<ProcessWithCounters> processes;
  for (const pid_t pid : memory::existing_processes()) {
    Result<std::shared_ptr<const CounterFile>> counters = counters_of(pid);
    if (counters.ok()) processes.push_back({pid, *std::move(counters)});
  }
  return processes;
}

}  // namespace millrace::nrt
