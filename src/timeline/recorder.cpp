#include "timeline/recorder.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "base/clock.h"
#include "base/never_destroyed.h"
#include "base/process/forked_child.h"
#include "timeline/ring.h"
#include "timeline/ticks.h"

namespace millrace::timeline {

constinit std::atomic<bool> Ticks::uses_counter_{false};
namespace {

// The largest number of rings. Threads beyond it are not recorded.
constexpr size_t kMostRings = 1024;

// A ring, with its present thread.
struct Slot {
  std::unique_ptr<Ring> ring;
  ThreadId thread = 0;  // 0: none
  uint64_t first = 0;   // number of the first event of the present recording
  // The number of events until its thread looks at the level again, and when it last did.
  uint32_t until_look = 0;
  int64_t looked_ns = 0;
};

// An event takes this time at most, as bench/timeline measures it, and all events of a thread may
// take this share of its time.
constexpr double kEventNs = 25, kShare = 0.005;
// The number of events of a thread between two looks at the level.
constexpr uint32_t kLook = 32;
constexpr auto kLeastNs = static_cast<int64_t>(kLook * kEventNs / kShare);
// How long a level stays before it becomes lower, since other threads may need it.
constexpr int64_t kStayNs = 1'000'000'000;

struct Recorder {
  std::mutex mutex;
  std::vector<std::unique_ptr<Slot>> slots;
  std::map<ThreadId, std::string> threads;
  std::map<uint16_t, std::string> units;
  size_t room = kUsualRoom;
  ClockReading begin;
  HookFunction observer = nullptr;  // while it records
  std::atomic<uint64_t> without_ring{0};

  std::mutex level_mutex;  // never waited for by threads that emit events
  int level = 0;
  int64_t changed_ns = 0;
  std::array<int64_t, kLevels> left_ns{};  // when the level was last left for a lower one
};

Recorder& recorder() {
  // Never destroyed, since threads may emit events while the process exits.
  static NeverDestroyed<Recorder> made;
  return made.get();
}

// The slot of this thread. Trivial, so that it can be used as long as the thread's memory exists.
constinit thread_local Slot* own_slot = nullptr;

// Runs at the end of a thread that has a ring. If a later destructor of the thread emits an event,
// it gets a ring again, and this runs once more.
void give_back(void* slot) noexcept {
  const std::lock_guard lock(recorder().mutex);
  static_cast<Slot*>(slot)->thread = 0;
  own_slot = nullptr;
}

// The pthread key by which give_back() is called. It is deleted when the library is unloaded, so
// that no thread calls into the library afterwards.
class EndOfThread {
 public:
  EndOfThread() noexcept : made_(pthread_key_create(&key_, give_back) == 0) {}
  ~EndOfThread() {
    if (made_) pthread_key_delete(key_);
  }
  EndOfThread(const EndOfThread&) = delete;
  EndOfThread& operator=(const EndOfThread&) = delete;

  bool watch(Slot* slot) const noexcept { return made_ && pthread_setspecific(key_, slot) == 0; }

 private:
  pthread_key_t key_{};
  const bool made_;
};

std::string name_of_this_thread() {
  std::array<char, 16> name{};
  if (pthread_getname_np(pthread_self(), name.data(), name.size()) != 0) return {};
  return name.data();
}

// Returns a slot without a thread, or a new one; null if there must not be more. Requirement: the
// mutex is held.
Slot* free_slot(Recorder& all) {
  const auto unused = std::ranges::find(all.slots, ThreadId{0}, &Slot::thread);
  if (unused != all.slots.end()) return unused->get();
  if (all.slots.size() >= kMostRings) return nullptr;
  auto slot = std::make_unique<Slot>();
  slot->ring = Ring::make(all.room);
  if (slot->ring == nullptr) return nullptr;
  return all.slots.emplace_back(std::move(slot)).get();
}

// Gives this thread a slot, and returns it; null if there is none.
Slot* take_slot() noexcept {
  // Another thread of the parent may have held the mutex when this process was forked.
  if (is_forked_child()) return nullptr;
  static const EndOfThread end_of_thread;
  Recorder& all = recorder();
  try {
    const std::lock_guard lock(all.mutex);
    Slot* const slot = free_slot(all);
    if (slot == nullptr || !end_of_thread.watch(slot)) return nullptr;
    const auto thread = static_cast<ThreadId>(::gettid());
    all.threads[thread] = name_of_this_thread();
    slot->thread = thread;
    own_slot = slot;
    return slot;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

Slot* slot_of_this_thread() noexcept {
  if (own_slot != nullptr) [[likely]]
    return own_slot;
  Slot* const slot = take_slot();
  if (slot == nullptr) recorder().without_ring.fetch_add(1, std::memory_order_relaxed);
  return slot;
}

void append(Slot& slot, const HookEvent& event) noexcept {
  slot.ring->append({.time_ns = Ticks::now(),
                     .subject = event.subject,
                     .detail = event.detail,
                     .thread = slot.thread,
                     .point = event.point});
}

void record(void*, const HookEvent& event) noexcept {
  if (Slot* const slot = slot_of_this_thread(); slot != nullptr) append(*slot, event);
}

bool is_of_job(HookPoint point) noexcept {
  switch (point) {
    case HookPoint::kBufferMade:
    case HookPoint::kBufferMapped:
    case HookPoint::kBufferSynced:
    case HookPoint::kBufferFreed:
    case HookPoint::kRefused:
      return false;
    default:
      return true;
  }
}

void look_at_level(Slot& slot) noexcept;

void record_affordable(void*, const HookEvent& event) noexcept {
  if (!is_of_job(event.point)) return;
  Slot* const slot = slot_of_this_thread();
  if (slot == nullptr) return;
  append(*slot, event);
  if (slot->until_look-- == 0) [[unlikely]]
    look_at_level(*slot);
}

// Requirement: level_mutex is held.
void change_level(Recorder& all, int level, int64_t now) noexcept {
  if (!thin_out_hook(record_affordable, nullptr, (uint64_t{1} << level) - 1)) return;
  for (int left = level + 1; left <= all.level; ++left)
    all.left_ns[static_cast<size_t>(left)] = now;
  all.level = level;
  all.changed_ns = now;
}

// Raises the level if the last events of this thread came too fast, and lowers it if they came so
// slowly that more can be kept.
void look_at_level(Slot& slot) noexcept {
  const int64_t now = now_ns();
  int64_t taken = now - std::exchange(slot.looked_ns, now);
  slot.until_look = kLook - 1;
  Recorder& all = recorder();
  const std::unique_lock lock(all.level_mutex, std::try_to_lock);
  if (!lock) return;
  int level = all.level;
  if (taken < kLeastNs)
    level = std::min(level + 1, kLevels - 1);
  else if (now - all.changed_ns >= kStayNs)
    for (; level > 0 && taken >= 4 * kLeastNs; taken /= 2) --level;
  if (level != all.level) change_level(all, level, now);
}

std::array<int64_t, kLevels> thinned_until(Recorder& all) {
  const std::lock_guard lock(all.level_mutex);
  std::array<int64_t, kLevels> until = all.left_ns;
  for (int level = 1; level <= all.level; ++level)
    until[static_cast<size_t>(level)] = std::numeric_limits<int64_t>::max();
  return until;
}

// Requirement: the mutex is held.
void begin_anew(Recorder& all, size_t room) {
  Ticks::choose();
  all.room = room;
  all.begin = read_clocks();
  all.without_ring.store(0, std::memory_order_relaxed);
  std::erase_if(all.slots, [](const auto& slot) { return slot->thread == 0; });
  for (const auto& slot : all.slots) {
    slot->first = slot->ring->appended();
    slot->until_look = 0;
    slot->looked_ns = 0;
  }
  const std::lock_guard lock(all.level_mutex);
  all.level = 0;
  all.changed_ns = 0;
  all.left_ns = {};
}

}  // namespace

bool Recording::may_lack(uint64_t subject, int64_t since_ns) const noexcept {
  // A subject is kept at level n if its n lowest bits are set.
  const auto kept_until = static_cast<size_t>(std::countr_one(subject));
  return kept_until + 1 < thinned_until.size() && thinned_until[kept_until + 1] > since_ns;
}

Status start_recording(size_t room, Detail detail) {
  Recorder& all = recorder();
  const HookFunction observer = detail == Detail::kAll ? record : record_affordable;
  {
    const std::lock_guard lock(all.mutex);
    if (all.observer != nullptr) return invalid_argument("a recording is going on already");
    all.observer = observer;
    begin_anew(all, room);
  }
  if (add_hook(observer, nullptr, false)) return {};
  const std::lock_guard lock(all.mutex);
  all.observer = nullptr;
  return {StatusCode::kResourceExhausted, "the table of hooks is full"};
}

void stop_recording() {
  remove_hook(record, nullptr);
  remove_hook(record_affordable, nullptr);
  const std::lock_guard lock(recorder().mutex);
  recorder().observer = nullptr;
}

bool is_recording() noexcept {
  const std::lock_guard lock(recorder().mutex);
  return recorder().observer != nullptr;
}

void name_unit(uint16_t unit, std::string_view name) noexcept {
  try {
    const std::lock_guard lock(recorder().mutex);
    if (recorder().observer != nullptr) recorder().units[unit] = name;
  } catch (const std::bad_alloc&) {
    // The unit is known by its id.
  }
}

Recording current_recording() {
  Recorder& all = recorder();
  Recording recording;
  const std::lock_guard lock(all.mutex);
  recording.begin_ns = all.begin.ns;
  recording.dropped = all.without_ring.load(std::memory_order_relaxed);
  recording.threads = all.threads;
  recording.units = all.units;
  recording.thinned_until = thinned_until(all);
  for (const auto& slot : all.slots)
    recording.dropped += slot->ring->read(slot->first, recording.events);
  const ClockReading end = read_clocks();
  recording.end_ns = end.ns;
  for (Event& event : recording.events) event.time_ns = ns_of(event.time_ns, all.begin, end);
  std::ranges::stable_sort(recording.events, {}, &Event::time_ns);
  return recording;
}

}  // namespace millrace::timeline
