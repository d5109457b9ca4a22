// Files are made with O_TMPFILE where possible and linked when they are complete; otherwise they
// get a temporary name and are renamed. Directories are renamed, or exchanged with an existing one
// (RENAME_EXCHANGE).
#include "model/files/temporary_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/files/output_target.h"
#include "base/files/own_descriptor.h"

namespace millrace::model {
namespace {

namespace fs = std::filesystem;

Result<std::string> file_target(const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(OutputTarget target, output_target(path));
  if (target.is_stream)
    return invalid_argument("it is a FIFO, a terminal or a device, and no file can replace it");
  return std::move(target.path);
}

// Replaces a path that ends in "." or "..", to which rename() cannot rename.
std::string without_dots(const std::string& directory) {
  const fs::path name = fs::path(directory).filename();
  if (name != "." && name != "..") return directory;
  std::error_code error;
  const fs::path found = fs::canonical(directory, error);
  return error ? directory : found.string();
}

Status cannot_create(const std::string& target) {
  return io_error(fmt::format("cannot create {}", target), errno);
}

Status rename_path(const std::string& from, const std::string& to) {
  return std::rename(from.c_str(), to.c_str()) == 0 ? Status() : cannot_create(to);
}

bool exchange_names(const std::string& a, const std::string& b) {
  return ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0;
}

// Returns a path by which a file without a name can be linked; needs /proc.
std::string name_of_descriptor(int fd) {
  return fmt::format("/proc/self/fd/{}", fd);
}

// Opens a file without a name (O_TMPFILE) in the directory of `target`; empty if the file system or
// the system does not support that.
UniqueFd open_unlisted_file(const std::string& target) {
  const fs::path folder = fs::path(target).parent_path();
  UniqueFd file = own_descriptor(
      ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
  if (!file || ::access(name_of_descriptor(file.get()).c_str(), F_OK) != 0) return UniqueFd();
  // Locked before it gets a name, so that no other process can take it for a leftover.
  lock_entry(file.get());
  return file;
}

bool link_as(const UniqueFd& file, const std::string& name) {
  return ::linkat(AT_FDCWD, name_of_descriptor(file.get()).c_str(), AT_FDCWD, name.c_str(),
                  AT_SYMLINK_FOLLOW) == 0;
}

bool open_listed_file(const std::string& name, UniqueFd& file) {
  file = own_descriptor(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  return static_cast<bool>(file);
}

bool open_new_directory(const std::string& name, UniqueFd& directory) {
  if (!make_directory(name)) return false;
  directory = own_descriptor(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (directory) return true;
  // If the entry has vanished, another process took it for a leftover: EEXIST lets the caller try
  // another name.
  const int reason = errno == ENOENT ? EEXIST : errno;
  ::rmdir(name.c_str());
  errno = reason;
  return false;
}

// Renames `from` to `to`, after moving the old `to` aside. The name for that is not a temporary
// one, since the old directory is the only complete copy if the process is killed in between.
// Before it is removed, which takes a while, it gets the temporary name, so that a later process
// removes what remains if this one is killed.
Status replace_by_moving_aside(const std::string& from, const std::string& to) {
  const std::string aside = from + ".old";
  if (std::rename(to.c_str(), aside.c_str()) != 0) return cannot_create(to);
  if (Status status = rename_path(from, to); !status.ok()) {
    static_cast<void>(std::rename(aside.c_str(), to.c_str()));
    return status;
  }
  const bool is_temporary = std::rename(aside.c_str(), from.c_str()) == 0;
  std::error_code ignored;  // the new directory is complete, so this is no failure
  fs::remove_all(is_temporary ? from : aside, ignored);
  return {};
}

}  // namespace

Result<TemporaryFile> TemporaryFile::create(const std::string& path) {
  TemporaryFile output;
  MILLRACE_ASSIGN_OR_RETURN(output.target_, file_target(path));
  remove_left_temporaries(output.target_);
  output.file_ = open_unlisted_file(output.target_);
  if (output.file_) return output;
  MILLRACE_ASSIGN_OR_RETURN(
      output.name_, TemporaryName::create(lock_temporary_names(), output.target_, output.file_,
                                          [&](const std::string& name) {
                                            return open_listed_file(name, output.file_);
                                          }));
  return output;
}

Status TemporaryFile::fill(const std::function<Status(const Sink&)>& emit) {
  // Writes through a duplicate: closing it reports delayed write errors, while the original stays
  // open and keeps the lock.
  UniqueFd writer(::fcntl(file_.get(), F_DUPFD_CLOEXEC, kLowestOwnDescriptor));
  if (!writer) return io_error("cannot write", errno);
  return fill_file(std::move(writer), emit);
}

Status TemporaryFile::commit() {
  const NamesLock lock = lock_temporary_names();
  if (name_.text().empty()) {
    if (link_as(file_, target_)) return {};
    // linkat() cannot replace a file, so the file is linked under a temporary name and renamed.
    if (errno != EEXIST) return cannot_create(target_);
    MILLRACE_ASSIGN_OR_RETURN(
        name_, TemporaryName::create(lock, target_, file_, [&](const std::string& name) {
          return link_as(file_, name);
        }));
  }
  // Something else may have got the name since create().
  MILLRACE_RETURN_IF_ERROR(check_replaceable(target_));
  MILLRACE_RETURN_IF_ERROR(rename_path(name_.text(), target_));
  name_.forget(lock);
  return {};
}

Result<TemporaryDirectory> TemporaryDirectory::create(const std::string& path) {
  TemporaryDirectory output;
  MILLRACE_ASSIGN_OR_RETURN(const std::string target, output_directory(path));
  output.target_ = without_dots(target);
  remove_left_temporaries(output.target_);
  MILLRACE_ASSIGN_OR_RETURN(
      output.name_, TemporaryName::create(lock_temporary_names(), output.target_, output.directory_,
                                          [&](const std::string& name) {
                                            return open_new_directory(name, output.directory_);
                                          }));
  return output;
}

Status TemporaryDirectory::commit() {
  const NamesLock lock = lock_temporary_names();
  MILLRACE_RETURN_IF_ERROR(check_replaceable_directory(target_));
  Status status = rename_path(name(), target_);
  // A directory that is not empty exists at the target. After the exchange it has the temporary
  // name, with which the destructor removes it.
  if (!status.ok() && exchange_names(name(), target_)) return {};
  std::error_code error;
  if (!status.ok() && fs::exists(target_, error)) status = replace_by_moving_aside(name(), target_);
  if (status.ok()) name_.forget(lock);
  return status;
}

Status write_whole_file(const std::string& path, std::span<const std::byte> bytes) {
  return write_whole_file(path, [bytes](const Sink& sink) { return sink(bytes); });
}

Status write_whole_file(const std::string& path, const std::function<Status(const Sink&)>& emit) {
  MILLRACE_ASSIGN_OR_RETURN(const OutputTarget target, output_target(path));
  if (target.is_stream) return write_through(target, emit);
  MILLRACE_ASSIGN_OR_RETURN(TemporaryFile file, TemporaryFile::create(target.path));
  MILLRACE_RETURN_IF_ERROR(file.fill(emit));
  return file.commit();
}

}  // namespace millrace::model
