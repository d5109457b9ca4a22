#include "serve/access_log/access_log.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/process/thread.h"

namespace millrace::serve {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostQueued = 8192;
// Between the first line of a batch and its writing, so that the thread seldom wakes.
constexpr std::chrono::milliseconds kBatchTime{20};
// A pipe that is ready takes so much without blocking.
constexpr size_t kMostAtOnce = 4096;
// The time that the reader of a pipe has to take more.
constexpr int kMostWaitMilliseconds = 1000;
// For the lines that are left when the program ends.
constexpr std::chrono::seconds kMostTimeAtEnd{2};
constexpr mode_t kFileMode = 0640;  // readable for those who collect logs

std::string time_text(std::chrono::system_clock::time_point time) {
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch());
  const auto whole = std::chrono::floor<std::chrono::seconds>(ms);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(static_cast<std::time_t>(whole.count())), (ms - whole).count());
}

// Whole microseconds, since more digits mean nothing.
double ms_of(std::chrono::nanoseconds time) {
  const auto us = std::chrono::round<std::chrono::microseconds>(time).count();
  return static_cast<double>(us) / 1000;
}

bool is_same_file(int one, int other) {
  struct stat a = {}, b = {};
  if (::fstat(one, &a) != 0 || ::fstat(other, &b) != 0) return false;
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

void add_text(Json& line, const char* name, const std::string& text) {
  if (!text.empty()) line[name] = text;
}

}  // namespace

std::string access_line(const AccessRecord& record) {
  Json line = {{"time", time_text(record.time)}};
  add_text(line, "remote", record.remote);
  add_text(line, "protocol", record.protocol);
  add_text(line, "method", record.method);
  add_text(line, "path", record.path);
  add_text(line, "model", record.model);
  add_text(line, "version", record.version);
  add_text(line, "id", record.id);
  line["status"] = record.status;
  line["bytes_in"] = record.bytes_in;
  line["bytes_out"] = record.bytes_out;
  if (record.duration) line["duration_ms"] = ms_of(*record.duration);
  if (record.queued) line["queue_ms"] = ms_of(*record.queued);
  if (record.computed) line["compute_ms"] = ms_of(*record.computed);
  if (record.trace) {
    line["trace_id"] = record.trace->trace_id;
    line["parent_id"] = record.trace->parent_id;
    line["sampled"] = record.trace->sampled;
  }
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::unique_ptr<AccessLog>> AccessLog::open(const std::string& path,
                                                   std::function<void()> dropped) {
  std::unique_ptr<AccessLog> log(new AccessLog(path, std::move(dropped)));
  MILLRACE_RETURN_IF_ERROR(log->open_file());
  auto thread = start_thread("millrace-access", [own = log.get()] { own->run(); });
  if (!thread.ok()) return thread.status();
  log->thread_ = *std::move(thread);
  return log;
}

AccessLog::~AccessLog() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    ends_at_ = std::chrono::steady_clock::now() + kMostTimeAtEnd;
  }
  filled_.notify_all();
  ended_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Status AccessLog::open_file() {
  UniqueFd file(path_ == "-"
                    ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                    : ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK,
                             kFileMode));
  if (!file) return io_error("open the access log " + path_, errno);
  if (file_ && !is_same_file(file_.get(), file.get())) is_in_line_ = false;
  file_ = std::move(file);
  return {};
}

void AccessLog::write(AccessRecord record) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (queue_.size() < kMostQueued) {
      queue_.push_back(std::move(record));
      if (queue_.size() == 1) filled_.notify_one();
      return;
    }
  } catch (const std::exception&) {
    // There is no memory for a longer queue.
  }
  drop();
}

void AccessLog::reopen() noexcept {
  {
    const std::lock_guard lock(mutex_);
    reopens_ = true;
  }
  filled_.notify_one();
}

void AccessLog::run() {
  std::vector<AccessRecord> records;
  std::unique_lock lock(mutex_);
  while (!ending_ || !queue_.empty()) {
    filled_.wait(lock, [this] { return ending_ || reopens_ || !queue_.empty(); });
    ended_.wait_for(lock, kBatchTime, [this] { return ending_; });
    std::swap(records, queue_);
    const bool reopens = std::exchange(reopens_, false);
    lock.unlock();
    if (reopens) reopen_file();
    write_all(records);
    records.clear();
    lock.lock();
  }
}

// Once a write has failed the others are not tried, since each would be waited for. It may leave a
// part of a line, which then ends before the next one, so that this one is whole.
void AccessLog::write_all(std::span<const AccessRecord> records) {
  while (!records.empty()) {
    const bool ends_line = is_in_line_;
    std::string text = ends_line ? "\n" : "";
    const size_t lines = join_lines(records, text);
    const size_t written = write_bytes(text);
    if (written > 0) is_in_line_ = text[written - 1] != '\n';
    if (written < text.size()) {
      const auto end = text.begin() + static_cast<ptrdiff_t>(written);
      const auto ends = static_cast<size_t>(std::count(text.begin(), end, '\n'));
      return drop(records.size() - ends + (ends_line && written > 0 ? 1 : 0));
    }
    records = records.subspan(lines);
  }
}

// Makes the first lines, as many as are written at once but at least one. Returns their number.
size_t AccessLog::join_lines(std::span<const AccessRecord> records, std::string& text) const {
  size_t lines = 0;
  while (lines < records.size()) {
    try {
      const std::string line = access_line(records[lines]);
      if (!text.empty() && text.size() + line.size() > kMostAtOnce) break;
      text += line;
    } catch (const std::exception&) {
      drop();
    }
    ++lines;
  }
  return lines;
}

void AccessLog::drop(size_t lines) const noexcept {
  for (; lines > 0; --lines) dropped_();
}

// Returns how many bytes were written: fewer if the disk is full, or nobody takes them.
size_t AccessLog::write_bytes(std::string_view bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    pollfd ready{.fd = file_.get(), .events = POLLOUT, .revents = 0};
    if (::poll(&ready, 1, most_wait_ms()) <= 0) break;
    const ssize_t written =
        ::write(file_.get(), bytes.data() + done, std::min(bytes.size() - done, kMostAtOnce));
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written <= 0) break;
    done += static_cast<size_t>(written);
  }
  return done;
}

// A reader that takes little at a time must not hold up the end of the program.
int AccessLog::most_wait_ms() {
  const std::lock_guard lock(mutex_);
  if (!ending_) return kMostWaitMilliseconds;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(ends_at_ - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, kMostWaitMilliseconds));
}

void AccessLog::reopen_file() {
  if (path_ == "-") return;
  const Status status = open_file();
  if (!status.ok())
    log_format(LogLevel::kError, "serve", "the access log is not opened again: {}",
               status.message());
}

}  // namespace millrace::serve
