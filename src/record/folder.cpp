#include "record/folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "base/files/own_descriptor.h"
#include "model/checksum.h"
#include "model/files/output_file.h"

namespace millrace::record {
namespace {

std::string text_of(const Json& line) {
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Returns what a file takes on a disk: whole blocks, and an entry of its folder.
constexpr uint64_t room_of_file(uint64_t bytes) {
  constexpr uint64_t kBlock = 4096, kEntry = 512;
  return (bytes + kBlock - 1) / kBlock * kBlock + kEntry;
}

Status write_file(const std::string& path, std::span<const std::byte> bytes) {
  MILLRACE_ASSIGN_OR_RETURN(UniqueFd file, model::create_file(path));
  return model::fill_file(std::move(file), [&](const model::Sink& sink) { return sink(bytes); });
}

// Writes the file under another name first, so that none of this name ever lacks bytes.
Status write_whole_file(const std::string& path, const std::string& name_meanwhile,
                        std::span<const std::byte> bytes) {
  MILLRACE_RETURN_IF_ERROR(write_file(name_meanwhile, bytes).with_context(path));
  if (::rename(name_meanwhile.c_str(), path.c_str()) != 0)
    return io_error("cannot create " + path, errno);
  return {};
}

}  // namespace

Status Folder::create(const std::string& path, uint64_t limit_bytes) {
  path_ = path;
  left_bytes_ = limit_bytes_ = limit_bytes;
  MILLRACE_RETURN_IF_ERROR(model::create_directories(path));
  const std::string lines = path + "/record.jsonl";
  lines_ = own_descriptor(
      ::open(lines.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (lines_.get() < 0 && errno == EEXIST)
    return {StatusCode::kIoError,
            fmt::format("{} has a record already: name another folder, as with %p, which stands "
                        "for the id of the process",
                        path)};
  if (lines_.get() < 0) return io_error("cannot create " + lines, errno);
  // They must not exist: a symbolic link in their place would redirect the files.
  for (const char* group : {"/models", "/tensors"})
    if (!model::make_directory(path + group))
      return io_error("cannot create " + path + group, errno);
  return {};
}

// Requirement: the mutex is held.
Status Folder::reserve(uint64_t bytes) {
  if (bytes > left_bytes_)
    return {StatusCode::kResourceExhausted,
            fmt::format("{} has reached its limit of {} MiB: raise MILLRACE_RECORD_LIMIT to record "
                        "more",
                        path_, limit_bytes_ >> 20)};
  left_bytes_ -= bytes;
  return {};
}

// Two threads may write equal bytes at the same time; either file will do.
Result<std::string> Folder::keep(std::string_view group, std::span<const std::byte> bytes) {
  const auto [high, low] = model::long_checksum_of(bytes);
  std::string name = fmt::format("{}/{:016x}{:016x}", group, high, low);
  const std::string path = path_ + "/" + name;
  std::string name_meanwhile;
  {
    const std::lock_guard lock(mutex_);
    if (kept_.contains(name)) return name;
    MILLRACE_RETURN_IF_ERROR(reserve(room_of_file(bytes.size())));
    name_meanwhile = fmt::format("{}.{}", path, ++begun_files_);
  }
  if (Status written = write_whole_file(path, name_meanwhile, bytes); !written.ok()) {
    static_cast<void>(::unlink(name_meanwhile.c_str()));
    return written;
  }
  const std::lock_guard lock(mutex_);
  kept_.insert(name);
  return name;
}

Status Folder::append(const Json& line) {
  return write_line(line, true);
}

Status Folder::append_last(const Json& line) {
  return write_line(line, false);
}

Status Folder::write_line(const Json& line, bool limited) {
  const std::string text = text_of(line);
  const std::lock_guard lock(mutex_);
  if (limited) MILLRACE_RETURN_IF_ERROR(reserve(text.size()));
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(lines_.get(), text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const Status status = io_error("cannot write " + path_ + "/record.jsonl", errno);
      // A part of a line would make the record unreadable.
      static_cast<void>(::ftruncate(lines_.get(), lines_bytes_));
      return status;
    }
    done += static_cast<size_t>(written);
  }
  lines_bytes_ += static_cast<off_t>(text.size());
  return {};
}

}  // namespace millrace::record
