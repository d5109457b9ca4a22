#include "base/files/standard_error.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

#include "base/cancellation.h"
#include "base/files/known_file.h"
#include "base/files/own_descriptor.h"

namespace millrace {
namespace {

bool is_inherited(int fd) noexcept {
  const int flags = ::fcntl(fd, F_GETFD);
  return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

struct StandardError {
  const FileIdentity at_load =
      is_inherited(STDERR_FILENO) ? identity_of(STDERR_FILENO) : FileIdentity();
  std::atomic<bool> gone{!at_load.known};
  std::atomic<bool> fixed{false};
};

StandardError& state() noexcept {
  static StandardError made;
  return made;
}

// Initialises the state when the library is loaded.
[[maybe_unused]] const bool is_noted = (state(), true);

// True for a memfd. Only its name distinguishes it from a file on tmpfs.
bool is_memory_file(int fd) {
  constexpr std::string_view kPrefix = "/memfd:";
  std::array<char, kPrefix.size()> name{};
  const ssize_t length =
      ::readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), name.data(), name.size());
  return length >= 0 && std::string_view(name.data(), static_cast<size_t>(length)) == kPrefix;
}

bool is_redirection(int fd, mode_t mode) {
  const bool is_kind = S_ISREG(mode) || S_ISFIFO(mode) || S_ISCHR(mode);
  const int flags = ::fcntl(fd, F_GETFL);
  return is_kind && flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && is_inherited(STDERR_FILENO) &&
         !(S_ISREG(mode) && is_memory_file(fd));
}

bool is_standard_error(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return false;
  return state().at_load.is(info) || is_redirection(fd, info.st_mode);
}

void write_to(int fd, std::string_view text) noexcept {
  // A text that cannot be written here cannot be reported anywhere else.
  [[maybe_unused]] const ssize_t written = ::write(fd, text.data(), text.size());
}

// If the process has no descriptor left for a duplicate, descriptor 2 itself is checked.
void write_without_duplicate(std::string_view text) {
  if (identity_of(STDERR_FILENO) == state().at_load) write_to(STDERR_FILENO, text);
}

void write_to_duplicate(std::string_view text) {
  const UniqueFd copy(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, kLowestOwnDescriptor));
  if (copy && is_standard_error(copy.get()))
    write_to(copy.get(), text);
  else if (!copy && errno == EBADF)
    state().gone = true;
  else if (!copy)
    write_without_duplicate(text);
}

}  // namespace

void write_standard_error(std::string_view text) noexcept {
  if (state().gone) return;
  const CancellationOff whole;
  if (state().fixed) return write_to(STDERR_FILENO, text);
  try {
    write_to_duplicate(text);
  } catch (const std::exception&) {
    return;  // memory for the path of a descriptor is exhausted
  }
}

void fix_standard_error() noexcept {
  state().fixed = true;
}

}  // namespace millrace
