// A process is examined by the links of its descriptors in /proc/PID/fd, of which one leads to the
// memory file. The system lets only its user, and root, open it there.
#include "nrt/counters/counter_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/files/own_descriptor.h"

namespace millrace::nrt {
namespace {

namespace fs = std::filesystem;

// Calls visit(path) for the entries of a directory until it returns true. A process may end while
// its entries are read.
template <class Visit>
void visit_entries(const fs::path& directory, Visit&& visit) {
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error))
    if (visit(entry->path())) return;
}

bool leads_to_counters(const fs::path& descriptor) {
  std::error_code error;
  const std::string target = fs::read_symlink(descriptor, error).string();
  return !error && target.starts_with(fmt::format("/memfd:{}", CounterFile::kName));
}

// Maps the file for reading; null unless it is one that cannot shrink and has such contents.
std::shared_ptr<const CounterFile> map_counters(const fs::path& descriptor) {
  const UniqueFd fd = own_descriptor(::open(descriptor.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) return nullptr;
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return nullptr;
  if (static_cast<size_t>(info.st_size) < sizeof(CounterFile)) return nullptr;
  void* const address = ::mmap(nullptr, sizeof(CounterFile), PROT_READ, MAP_SHARED, fd.get(), 0);
  if (address == MAP_FAILED) return nullptr;
  std::shared_ptr<const CounterFile> counters(
      static_cast<const CounterFile*>(address), [](const CounterFile* mapped) {
        ::munmap(const_cast<CounterFile*>(mapped), sizeof(CounterFile));
      });
  return counters->signature == CounterFile::kSignature ? counters : nullptr;
}

std::optional<pid_t> process_of(const fs::path& folder) {
  const std::string name = folder.filename();
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return pid;
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
    visit_entries(fmt::format("/proc/{}/fd", pid), [&](const fs::path& descriptor) {
      if (leads_to_counters(descriptor)) found = map_counters(descriptor);
      return found != nullptr;
    });
  }
  if (found != nullptr && is_running_in(pid, *found)) return found;
  return Status(StatusCode::kNotFound,
                fmt::format("NRT does not run in process {}, or it is another user's", pid));
}

std::vector<ProcessWithCounters> processes_with_counters() {
  std::vector<ProcessWithCounters> processes;
  visit_entries("/proc", [&](const fs::path& folder) {
    if (const std::optional<pid_t> pid = process_of(folder)) {
      Result<std::shared_ptr<const CounterFile>> counters = counters_of(*pid);
      if (counters.ok()) processes.push_back({*pid, *std::move(counters)});
    }
    return false;
  });
  return processes;
}

}  // namespace millrace::nrt
