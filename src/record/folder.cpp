#include "record/folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/files/own_descriptor.h"
#include "model/checksum.h"
#include "model/files/output_file.h"

namespace millrace::record {
namespace {

std::string text_of(const Json& line) {
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
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
  // New ones: a link that somebody else has put there would lead files away.
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

Result<std::string> Folder::keep(std::string_view group, std::span<const std::byte> bytes) {
  const auto [high, low] = model::long_checksum_of(bytes);
  std::string name = fmt::format("{}/{:016x}{:016x}", group, high, low);
  {
    const std::lock_guard lock(mutex_);
    if (!kept_.insert(name).second) return name;
    MILLRACE_RETURN_IF_ERROR(reserve(bytes.size()));
  }
  const std::string path = path_ + "/" + name;
  Result<UniqueFd> file = model::create_file(path);
  if (!file.ok()) return file.status().with_context(path);
  const Status filled = model::fill_file(
      *std::move(file), [&](const model::Sink& sink) -> Status { return sink(bytes); });
  if (!filled.ok()) return filled.with_context(path);
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
    if (written < 0) return io_error("cannot write " + path_ + "/record.jsonl", errno);
    done += static_cast<size_t>(written);
  }
  return {};
}

}  // namespace millrace::record
