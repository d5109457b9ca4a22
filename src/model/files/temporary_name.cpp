// A set of the temporary names in use by this process, and flock() on the entries, which shows
// other processes that the writer is alive. The kernel releases the lock when a process dies.
#include "model/files/temporary_name.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files/own_descriptor.h"
#include "base/never_destroyed.h"

namespace millrace::model {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = ".millrace-";
constexpr std::string_view kSuffix = ".tmp";

// The names in use. Requirement for any access: lock_temporary_names() is held.
struct Names {
  std::mutex mutex;
  std::set<std::string> in_use;
  unsigned next = 0;
};

Names& names() {
  static NeverDestroyed<Names> names;
  return names.get();
}

fs::path folder_of(const std::string& target) {
  const fs::path folder = fs::path(target).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

// Returns a new name. It does not contain the target's name, which may have the maximum length.
std::string next_name(const fs::path& folder) {
  const std::string name = fmt::format("{}{}-{}{}", kPrefix, ::getpid(), names().next++, kSuffix);
  return (folder / name).string();
}

bool is_temporary_name(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return false;
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(std::min(name.size(), kSuffix.size()));
  return !name.empty() && name.find_first_not_of("0123456789-") == std::string_view::npos;
}

bool is_same_entry(int fd, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(fd, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

// Locks the new entry. False if another process has taken it for a leftover before it was locked,
// and removes it.
bool keeps(int fd, const std::string& path) {
  if (!lock_entry(fd) && errno == EWOULDBLOCK) return false;
  return is_same_entry(fd, path);
}

bool is_ours(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && status.st_uid == ::geteuid() &&
         (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

void remove_if_left(const std::string& path) {
  const UniqueFd entry =
      own_descriptor(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!entry || !is_ours(entry.get()) || !lock_entry(entry.get())) return;
  // Another process may have removed it meanwhile and reused its name for an output of its own.
  if (!is_same_entry(entry.get(), path)) return;
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

// Removes a file or directory, repeatedly if necessary: a thread that is still writing may add
// files to the directory while it is being removed.
void remove_for_good(const std::string& path) {
  constexpr int kAttempts = 100;
  for (int i = 0; i < kAttempts; ++i) {
    std::error_code error;
    fs::remove_all(path, error);
    if (!error) return;
  }
}

}  // namespace

NamesLock lock_temporary_names() {
  return NamesLock(names().mutex);
}

bool lock_entry(int fd) noexcept {
  return ::flock(fd, LOCK_EX | LOCK_NB) == 0;
}

Result<TemporaryName> TemporaryName::create(const NamesLock&, const std::string& target,
                                            UniqueFd& entry,
                                            const std::function<bool(const std::string&)>& make) {
  const fs::path folder = folder_of(target);
  for (;;) {
    const auto added = names().in_use.insert(next_name(folder)).first;
    if (make(*added)) {
      if (keeps(entry.get(), *added)) {
        TemporaryName name;
        name.name_ = *added;
        return name;
      }
    } else if (errno != EEXIST) {
      const int reason = errno;
      names().in_use.erase(added);
      return io_error("cannot create a temporary file or directory", reason);
    }
    names().in_use.erase(added);
  }
}

TemporaryName::TemporaryName(TemporaryName&& other) noexcept
    : name_(std::exchange(other.name_, {})) {}

TemporaryName& TemporaryName::operator=(TemporaryName&& other) noexcept {
  std::swap(name_, other.name_);
  return *this;
}

TemporaryName::~TemporaryName() {
  if (name_.empty()) return;
  const NamesLock lock = lock_temporary_names();
  std::error_code ignored;  // a destructor cannot report it
  fs::remove_all(name_, ignored);
  forget(lock);
}

void TemporaryName::forget(const NamesLock&) noexcept {
  names().in_use.erase(name_);
  name_.clear();
}

void remove_left_temporaries(const std::string& target) {
  std::vector<std::string> found;
  std::error_code error;
  fs::directory_iterator it(folder_of(target), error);
  for (const fs::directory_iterator end; !error && it != end; it.increment(error)) {
    if (is_temporary_name(it->path().filename().string())) found.push_back(it->path().string());
  }
  for (const std::string& path : found) remove_if_left(path);
}

void remove_temporaries_and(const std::function<void()>& end) {
  const NamesLock lock = lock_temporary_names();
  for (const std::string& name : names().in_use) remove_for_good(name);
  end();
}

}  // namespace millrace::model
