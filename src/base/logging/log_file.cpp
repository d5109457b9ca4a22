#include "base/logging/log_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/files/output_target.h"
#include "base/files/own_descriptor.h"

namespace millrace {

Result<std::unique_ptr<LogFile>> LogFile::open(const std::string& path, off_t most_bytes) {
  MILLRACE_ASSIGN_OR_RETURN(OutputTarget target, output_target(path));
  if (target.is_stream)
    return Status(StatusCode::kInvalidArgument, "must be a regular file, which can be renamed");
  std::unique_ptr<LogFile> log(new LogFile(std::move(target.path), most_bytes));
  MILLRACE_RETURN_IF_ERROR(log->reopen());
  return log;
}

// O_NONBLOCK: a FIFO in place of the file must not make the open wait for its reader.
Status LogFile::reopen() {
  // A number that now refers to another file belongs to the program.
  if (file_ && !(identity_of(file_.get()) == identity_)) [[maybe_unused]]
    const int left_open = file_.release();
  file_ = {};
  UniqueFd file = own_descriptor(
      ::open(path_.c_str(),
             O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0666));
  if (!file) return io_error("cannot be opened", errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return {StatusCode::kInvalidArgument, "must be a regular file"};
  identity_ = identity_of(file.get());
  file_ = std::move(file);
  return {};
}

UniqueFd LogFile::borrow() const noexcept {
  UniqueFd copy(::fcntl(file_.get(), F_DUPFD_CLOEXEC, kLowestOwnDescriptor));
  return copy && identity_of(copy.get()) == identity_ ? std::move(copy) : UniqueFd();
}

bool LogFile::is_full(int fd, size_t more) const noexcept {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && info.st_size > 0 &&
         info.st_size + static_cast<off_t>(more) > most_bytes_;
}

void LogFile::rotate(int fd) {
  struct stat at_path {};
  // Another process may have renamed it already, and written into a new one: only one of those that
  // have this file open may look and rename.
  ::flock(fd, LOCK_EX);
  // Where the old lines cannot be kept, they make room for new ones.
  if (::lstat(path_.c_str(), &at_path) == 0 && identity_.is(at_path) &&
      ::rename(path_.c_str(), (path_ + ".1").c_str()) != 0) [[maybe_unused]]
    const int emptied = ::ftruncate(fd, 0);
  ::flock(fd, LOCK_UN);
  [[maybe_unused]] const Status reopened = reopen();
}

void LogFile::write(std::string_view line) noexcept try {
  UniqueFd to = borrow();
  // The program may have closed the descriptor: a new one is opened.
  if (!to && reopen().ok()) to = borrow();
  if (to && is_full(to.get(), line.size())) {
    rotate(to.get());
    to = borrow();
  }
  if (to) [[maybe_unused]]
    const ssize_t written = ::write(to.get(), line.data(), line.size());
} catch (...) {
  return;  // memory for a path is exhausted
}

}  // namespace millrace
