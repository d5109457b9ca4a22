#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/printable.h"

namespace millrace::cli {
namespace {

constexpr int64_t kPatienceNs = 2'000'000'000;
constexpr int64_t kIntervalNs = 100'000'000;
bool is_allowed = false;
constexpr const char* kWipeLine = "\r\x1b[K";  // ANSI: erases from the cursor to the line's end

}  // namespace

std::string progress_bar(size_t done, size_t total) {
  constexpr size_t kWidth = 20;
  const size_t filled = total == 0 ? kWidth : kWidth * done / total;
  return fmt::format("[{:#<{}}{:-<{}}] {} of {}", "", filled, "", kWidth - filled, done, total);
}

void Progress::allow() noexcept {
  is_allowed = true;
}

Progress::Progress(std::string_view task)
    : task_(printable(task)),
      terminal_(is_allowed && ::isatty(STDERR_FILENO) == 1),
      started_ns_(now_ns()),
      next_ns_(started_ns_ + kPatienceNs) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "{}", kWipeLine);
}

void Progress::update(std::string_view step) {
  const int64_t now = now_ns();
  if (!terminal_ || now < next_ns_) return;
  next_ns_ = now + kIntervalNs;
  shown_ = true;
  fmt::print(stderr, "{}{}: {} ({:.0f} s)", kWipeLine, task_, printable(step),
             (now - started_ns_) * 1e-9);
  std::fflush(stderr);
}

struct BusyLine::Shown {
  explicit Shown(std::string_view task) : progress(task) {}

  void repeat(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
      progress.update(step);
      changed.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
    }
  }

  std::mutex mutex;
  std::condition_variable_any changed;
  Progress progress;
  std::string step;
  std::jthread thread;  // declared last, so that it ends first
};

BusyLine::BusyLine(std::string_view task) {
  if (!is_allowed || ::isatty(STDERR_FILENO) != 1) return;
  shown_ = std::make_unique<Shown>(task);
  shown_->thread =
      std::jthread([shown = shown_.get()](const std::stop_token& stop) { shown->repeat(stop); });
}

BusyLine::~BusyLine() = default;

void BusyLine::update(std::string_view step) {
  if (shown_ == nullptr) return;
  const std::lock_guard lock(shown_->mutex);
  shown_->step = step;
}

}  // namespace millrace::cli
