#include "timeline/trace_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <system_error>
#include <thread>

#include "base/cancellation.h"
#include "base/clock.h"
#include "base/files/output_target.h"
#include "base/hooks.h"
#include "base/log.h"
#include "base/never_destroyed.h"
#include "base/settings/environment.h"
#include "base/settings/process_path.h"
#include "model/files/temporary_output.h"
#include "timeline/chrome_trace.h"
#include "timeline/dump_on_signals.h"
#include "timeline/page.h"
#include "timeline/recorder.h"

namespace millrace::timeline {
namespace {

constexpr const char* kTraceVariable = "MILLRACE_TRACE";
constexpr const char* kRecorderVariable = "MILLRACE_FLIGHT_RECORDER";
constexpr const char* kRoomVariable = "MILLRACE_TRACE_EVENTS";
constexpr uint64_t kLeastRoom = 16, kMostRoom = uint64_t{1} << 24;
constexpr uint64_t kRecorderRoom = uint64_t{1} << 12;
// The files that the flight recorder leaves.
constexpr int kMostIncidents = 8;

struct TraceFile {
  std::once_flag begun;
  std::mutex mutex;  // held while the file is written
  std::string path;
  const char* variable = kTraceVariable;  // the one that names the file
  pid_t process = 0;
  bool only_after_failure = false;
  std::atomic<bool> failure_to_write{false};  // a job has failed since the file was written
  std::atomic<bool> failure_written{false};   // a file of this process has a job that has failed
  std::atomic<bool> active{false};
  std::atomic<int> open_devices{0};
};

TraceFile& trace_file() {
  // Never destroyed, since devices may close while the process exits.
  static NeverDestroyed<TraceFile> made;
  return made.get();
}

void report(const Status& status) {
  log_format(LogLevel::kError, "timeline", "{}: {}", trace_file().variable, status.message());
}

Status write_file(const std::string& path) {
  const CancellationOff whole;
  const Timeline timeline = timeline_of(current_recording());
  const auto trace = [&](const TextSink& sink) { return write_chrome_trace(timeline, sink); };
  const Status written = model::write_whole_file(path, [&](const model::Sink& sink) {
    const TextSink text = [&](std::string_view piece) {
      return sink(std::as_bytes(std::span(piece)));
    };
    return path.ends_with(".html") ? write_page(trace, text) : trace(text);
  });
  return written.with_context(fmt::format("cannot write {}", path));
}

// Returns "incident.3.html" for "incident.html" and 3, and the path itself for 1.
std::string incident_path(const std::string& path, int number) {
  if (number == 1) return path;
  const std::filesystem::path whole(path);
  const std::string name =
      fmt::format("{}.{}{}", whole.stem().string(), number, whole.extension().string());
  return (whole.parent_path() / name).string();
}

// Returns the first path at which there is no file yet, so that a failure does not replace what is
// known of an earlier one; that of the oldest file if there is one at each. A pipe or a device
// keeps its path.
std::string next_incident_path(const std::string& path) {
  std::string oldest;
  std::filesystem::file_time_type oldest_time;
  for (int number = 1; number <= kMostIncidents; ++number) {
    const std::string candidate = incident_path(path, number);
    std::error_code error;
    if (!std::filesystem::is_regular_file(candidate, error)) return candidate;
    const auto time = std::filesystem::last_write_time(candidate, error);
    if (error) return candidate;  // it has been removed since
    if (!oldest.empty() && oldest_time <= time) continue;
    oldest = candidate;
    oldest_time = time;
  }
  return oldest;
}

// Writes what was recorded so far. A forked child does not write the file of its parent.
void write_now() noexcept {
  TraceFile& file = trace_file();
  if (!file.active.load() || ::getpid() != file.process) return;
  try {
    const std::lock_guard lock(file.mutex);
    const bool has_failure = file.failure_to_write.exchange(false);
    const std::string path = file.only_after_failure ? next_incident_path(file.path) : file.path;
    if (const Status written = write_file(path); !written.ok()) return report(written);
    if (has_failure) file.failure_written.store(true);
    log_format(file.only_after_failure ? LogLevel::kWarning : LogLevel::kInfo, "timeline",
               "{}: wrote {}", file.variable, path);
  } catch (const std::exception&) {
    // Memory is exhausted; there is none for a message either.
  }
}

// A program that is stopped after a failure leaves the file of the failure only.
void dump(DumpCause cause) noexcept {
  const TraceFile& file = trace_file();
  const bool is_told = file.failure_written.load() && !file.failure_to_write.load();
  if (!file.only_after_failure || cause != DumpCause::kStop || !is_told) write_now();
}

// Runs once, when the process exits or the library is unloaded.
void end() noexcept {
  end_dumps();
  TraceFile& file = trace_file();
  if (!file.only_after_failure || file.failure_to_write.load()) write_now();
}

// Observes the jobs that fail: a program whose device fails may be killed, or never end.
void watch_failures(void*, const HookEvent& event) noexcept {
  constexpr int64_t kPauseNs = 1'000'000'000;
  static std::atomic<int64_t> next_ns{0};
  if (event.point != HookPoint::kCompleted) return;
  const auto code = static_cast<StatusCode>(event.detail);
  if (code != StatusCode::kDeviceFailed && code != StatusCode::kHung) return;
  trace_file().failure_to_write.store(true);
  const int64_t now = now_ns();
  int64_t next = next_ns.load(std::memory_order_relaxed);
  if (now >= next && next_ns.compare_exchange_strong(next, now + kPauseNs)) request_dump();
}

// Adds the observer after the recorder, which so has the failure when the file is written.
void observe_failures() {
  if (!add_hook(watch_failures, nullptr, false)) return;
  // Failures are emitted whatever an observer has thinned out. It fails only while another thread
  // adds or removes an observer.
  while (!thin_out_hook(watch_failures, nullptr, ~uint64_t{0})) std::this_thread::yield();
}

Status begin() {
  TraceFile& file = trace_file();
  std::string_view path = environment_variable(kTraceVariable);
  if (path.empty()) {
    path = environment_variable(kRecorderVariable);
    if (path.empty()) return {};
    file.variable = kRecorderVariable;
    file.only_after_failure = true;
  }
  file.path = process_path(path);
  file.process = ::getpid();
  MILLRACE_RETURN_IF_ERROR(check_output(file.path));
  const uint64_t usual = file.only_after_failure ? kRecorderRoom : kUsualRoom;
  MILLRACE_ASSIGN_OR_RETURN(const uint64_t room,
                            number_variable(kRoomVariable, usual, kLeastRoom, kMostRoom));
  MILLRACE_RETURN_IF_ERROR(start_recording(
      std::bit_ceil(room), file.only_after_failure ? Detail::kAffordable : Detail::kAll));
  file.active.store(true);
  if (std::atexit(end) != 0)
    return {StatusCode::kOutOfMemory, "the trace is only written when devices close"};
  MILLRACE_RETURN_IF_ERROR(dump_on_signals(dump).with_context(
      "the trace is only written when devices close and the process exits"));
  observe_failures();
  return {};
}

}  // namespace

void trace_program() noexcept {
  try {
    std::call_once(trace_file().begun, [] {
      if (const Status begun = begin(); !begun.ok()) report(begun);
    });
  } catch (const std::exception&) {
    // Memory is exhausted; the program goes on without a trace.
  }
}

bool is_traced() noexcept {
  return trace_file().active.load() && !trace_file().only_after_failure;
}

OpenDevice::OpenDevice() noexcept {
  trace_file().open_devices.fetch_add(1);
}

OpenDevice::~OpenDevice() {
  if (trace_file().open_devices.fetch_sub(1) == 1) write_now();
}

}  // namespace millrace::timeline
