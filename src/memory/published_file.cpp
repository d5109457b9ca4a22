#include "memory/published_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/files/own_descriptor.h"
#include "base/unique_fd.h"

namespace millrace::memory {
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

bool leads_to(const fs::path& descriptor, std::string_view name) {
  std::error_code error;
  return fs::read_symlink(descriptor, error) == fmt::format("/memfd:{} (deleted)", name);
}

// A file of the same name that is no memfd, in another file system, has no such seal.
std::shared_ptr<std::byte> map_file(const fs::path& descriptor, size_t bytes,
                                    PublishedAccess access) {
  const bool writes = access == PublishedAccess::kReadAndWrite;
  const UniqueFd fd = own_descriptor(
      ::open(descriptor.c_str(), (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) return nullptr;
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return nullptr;
  if (static_cast<size_t>(info.st_size) < bytes) return nullptr;
  void* const address =
      ::mmap(nullptr, bytes, writes ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd.get(), 0);
  if (address == MAP_FAILED) return nullptr;
  return {static_cast<std::byte*>(address),
          [bytes](std::byte* mapped) { ::munmap(mapped, bytes); }};
}

pid_t process_of(const fs::path& folder) {
  const std::string name = folder.filename();
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  return error == std::errc() && end == name.data() + name.size() ? pid : 0;
}

}  // namespace

std::shared_ptr<std::byte> map_published_file(pid_t pid, std::string_view name, size_t bytes,
                                              PublishedAccess access) {
  std::shared_ptr<std::byte> found;
  visit_entries(fmt::format("/proc/{}/fd", pid), [&](const fs::path& descriptor) {
    if (leads_to(descriptor, name)) found = map_file(descriptor, bytes, access);
    return found != nullptr;
  });
  return found;
}

std::vector<pid_t> existing_processes() {
  std::vector<pid_t> processes;
  visit_entries("/proc", [&](const fs::path& folder) {
    if (const pid_t pid = process_of(folder); pid > 0) processes.push_back(pid);
    return false;
  });
  return processes;
}

}  // namespace millrace::memory
