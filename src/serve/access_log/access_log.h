// AccessLog: one line of JSON for each request, in a file or on standard output.
//
// Requests only put what is known of them into a bounded queue; one thread makes the lines and
// writes them, a few milliseconds later. So neither a slow disk nor a pipe that nobody reads delays
// a request: lines for which there is no room are dropped, and counted. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"
#include "serve/access_log/trace_context.h"

namespace millrace::serve {

// A record holds what a line says of a request. Texts that are empty and times that are missing are
// left out.
struct AccessRecord {
  std::chrono::system_clock::time_point time;  // of the arrival
  std::string remote, protocol, method, path;
  std::string model, version, id;
  unsigned status = 0;                   // of HTTP
  uint64_t bytes_in = 0, bytes_out = 0;  // of the bodies
  std::optional<std::chrono::nanoseconds> duration, queued, computed;
  std::optional<TraceContext> trace;
};

// Returns the line of a record, with its newline. Control characters are escaped, and what is not
// UTF-8 is replaced.
std::string access_line(const AccessRecord& record);

class AccessLog {
 public:
  // Opens the file, to which lines are appended; "-" is standard output. `dropped` is called for
  // each line that is lost, on any thread; it must not throw. kIoError with the reason;
  // kResourceExhausted if the system refuses a thread.
  static Result<std::unique_ptr<AccessLog>> open(const std::string& path,
                                                 std::function<void()> dropped);
  // Writes what is queued, as far as it is taken within two seconds.
  ~AccessLog();

  void write(AccessRecord record) noexcept;
  // Counts lines that could not be made.
  void drop(size_t lines = 1) const noexcept;
  // Opens the file again, soon, since it has been renamed. If that fails, the old one is kept.
  void reopen() noexcept;

 private:
  AccessLog(std::string path, std::function<void()> dropped)
      : path_(std::move(path)), dropped_(std::move(dropped)) {}

  Status open_file();
  void run();
  void write_all(std::span<const AccessRecord> records);
  size_t join_lines(std::span<const AccessRecord> records, std::string& text) const;
  size_t write_bytes(std::string_view bytes);
  int most_wait_ms();
  void reopen_file();

  const std::string path_;
  const std::function<void()> dropped_;
  UniqueFd file_;            // used by the thread only, once it runs,
  bool is_in_line_ = false;  // and so is this: a failed write has left a part of a line
  std::mutex mutex_;
  std::condition_variable filled_, ended_;
  std::vector<AccessRecord> queue_;
  bool ending_ = false, reopens_ = false;
  std::chrono::steady_clock::time_point ends_at_;  // once it ends: no write waits longer
  std::thread thread_;
};

}  // namespace millrace::serve
