#include "live/publisher.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/never_destroyed.h"
#include "base/process/forked_child.h"
#include "base/process/thread.h"
#include "base/settings/environment.h"
#include "live/process_page.h"
#include "memory/buffer_bytes.h"
#include "memory/mapping.h"
#include "queue/units/unit_impl.h"

namespace millrace::live {
namespace {

using queue::Unit;

constexpr const char* kVariable = "MILLRACE_TOP";
// After an answer the thread rests, so that nobody can keep it busy by asking.
constexpr auto kRest = std::chrono::milliseconds(5);
// The thread polls the word at this interval, too: another process could set it back unseen.
constexpr int kLongestWaitMs = 60'000;

struct Entry {
  std::weak_ptr<Unit::Impl> unit;
  std::string name;
  uint64_t made = 0;
  uint32_t lanes = 0;
};

struct Publisher {
  std::once_flag begun;
  std::mutex mutex;
  std::vector<Entry> units;  // in the order in which they were made
  uint64_t made = 0;
  std::shared_ptr<memory::Mapping> mapping;
  ProcessPage* page = nullptr;        // null unless the process shows itself
  std::unique_ptr<ProcessView> view;  // of the thread
  pid_t process = 0;
  std::thread thread;
  // The thread runs; it is to end; it is about to return.
  std::atomic<bool> active{false}, ending{false}, ended{false};
};

Publisher& publisher() {
  // Never destroyed, since units may be made while the process exits.
  static NeverDestroyed<Publisher> made;
  return made.get();
}

UnitView view_of(const Entry& shown, const Unit::Impl& unit) noexcept {
  const UnitStatistics counts = unit.statistics();
  UnitView view{.made = shown.made,
                .submitted = counts.submitted,
                .refused = counts.refused,
                .succeeded = counts.succeeded,
                .cancelled = counts.cancelled,
                .dropped = counts.dropped,
                .late = counts.late,
                .failed = counts.failed,
                .mean_run_ns = counts.mean_run.count(),
                .in_flight = counts.in_flight,
                .depth = unit.ring().depth(),
                .lanes = shown.lanes,
                .id = unit.id(),
                .degraded = unit.state() == UnitState::kDegraded,
                .closed = unit.is_closed(),
                .name = {},
                .run_times = unit.run_times().counts()};
  shown.name.copy(view.name.data(), view.name.size() - 1);
  return view;
}

void fill(Publisher& all, ProcessView& view) {
  view = {};
  view.time_ns = now_ns();
  view.buffer_bytes = memory::bytes_in_buffers();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.units, [](const Entry& shown) { return shown.unit.expired(); });
  for (const Entry& shown : all.units) {
    const std::shared_ptr<Unit::Impl> unit = shown.unit.lock();
    if (unit == nullptr || (unit->is_closed() && unit->ring().in_flight() == 0)) continue;
    if (view.units == kMostUnits)
      ++view.others;
    else
      view.unit[view.units++] = view_of(shown, *unit);
  }
}

void answer(Publisher& all, uint32_t question) noexcept {
  try {
    fill(all, *all.view);
    write_view(*all.page, *all.view);
  } catch (const std::exception&) {
    // Memory is exhausted: the view stays as it was.
  }
  all.page->answered.store(question, std::memory_order_release);
  wake_all(all.page->answered);
}

void run(Publisher& all) noexcept {
  uint32_t answered = 0;
  while (!all.ending.load()) {
    const uint32_t asked = all.page->asked.load(std::memory_order_acquire);
    if (asked == answered) {
      wait_while(all.page->asked, asked, kLongestWaitMs);
      continue;
    }
    answer(all, asked);
    answered = asked;
    std::this_thread::sleep_for(kRest);
  }
  all.ended.store(true);
}

// Runs once, when the process exits or the library is unloaded. The word is changed in a
// loop, since another process could set it back before the thread sees it.
void end() noexcept {
  Publisher& all = publisher();
  if (::getpid() != all.process || !all.active.exchange(false)) return;
  all.ending.store(true);
  while (!all.ended.load()) {
    all.page->asked.fetch_add(1);
    wake_all(all.page->asked);
    std::this_thread::yield();
  }
  all.thread.join();
  all.page->pid.store(0);
}

Status begin() {
  Publisher& all = publisher();
  MILLRACE_ASSIGN_OR_RETURN(const bool wanted, switch_variable(kVariable, false));
  if (!wanted) return {};
  MILLRACE_ASSIGN_OR_RETURN(
      all.mapping, memory::Mapping::create(memory::MemorySource::kMemfd, sizeof(ProcessPage),
                                           std::string(kPageName)));
  // Without a descriptor there is only memory that no other process can find.
  MILLRACE_ASSIGN_OR_RETURN(const int descriptor, all.mapping->duplicate_fd());
  ::close(descriptor);
  all.view = std::make_unique<ProcessView>();
  all.process = ::getpid();
  auto* const page = new (all.mapping->data()) ProcessPage{};
  page->signature = kPageSignature;
  all.page = page;
  if (std::atexit(end) != 0) return {StatusCode::kOutOfMemory, "no memory for a function at exit"};
  MILLRACE_ASSIGN_OR_RETURN(all.thread, start_thread("millrace-top", [&all] { run(all); }));
  page->pid.store(all.process, std::memory_order_release);
  all.active.store(true);
  return {};
}

// Returns whether the process shows its units.
bool is_shown() {
  Publisher& all = publisher();
  std::call_once(all.begun, [] {
    if (const Status begun = begin(); !begun.ok())
      log_format(LogLevel::kError, "top", "{}: {}", kVariable, begun.message());
  });
  return all.active.load() && !is_forked_child();
}

}  // namespace

void show_unit(queue::Unit& unit, std::string_view name, uint32_t lanes) noexcept {
  try {
    if (!is_shown()) return;
    unit.impl().measure_runs();
    Publisher& all = publisher();
    const std::lock_guard lock(all.mutex);
    std::erase_if(all.units, [](const Entry& shown) { return shown.unit.expired(); });
    all.units.push_back({std::static_pointer_cast<Unit::Impl>(unit.impl().shared_from_this()),
                         std::string(name), ++all.made, lanes});
  } catch (const std::exception&) {
    // Memory is exhausted: the unit is not shown.
  }
}

}  // namespace millrace::live
