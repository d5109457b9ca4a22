#include "timeline/recorder.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "base/clock.h"
#include "base/never_destroyed.h"
#include "base/process/forked_child.h"
#include "timeline/ring.h"

namespace millrace::timeline {
namespace {

// The largest number of rings. Threads beyond it are not recorded.
constexpr size_t kMostRings = 1024;

// A ring, with its present thread.
struct Slot {
  std::unique_ptr<Ring> ring;
  ThreadId thread = 0;  // 0: none
  uint64_t first = 0;   // number of the first event of the present recording
};

struct Recorder {
  std::mutex mutex;
  std::vector<std::unique_ptr<Slot>> slots;
  std::map<ThreadId, std::string> threads;
  std::map<uint16_t, std::string> units;
  size_t room = kUsualRoom;
  int64_t begin_ns = 0;
  bool active = false;
  std::atomic<uint64_t> without_ring{0};
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

void record(void*, const HookEvent& event) noexcept {
  Slot* const slot = own_slot != nullptr ? own_slot : take_slot();
  if (slot == nullptr) {
    recorder().without_ring.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  slot->ring->append({.time_ns = event.time_ns,
                      .subject = event.subject,
                      .detail = event.detail,
                      .thread = slot->thread,
                      .point = event.point});
}

}  // namespace

Status start_recording(size_t room) {
  Recorder& all = recorder();
  {
    const std::lock_guard lock(all.mutex);
    if (all.active) return invalid_argument("a recording is going on already");
    all.active = true;
    all.room = room;
    all.begin_ns = now_ns();
    all.without_ring.store(0, std::memory_order_relaxed);
    std::erase_if(all.slots, [](const auto& slot) { return slot->thread == 0; });
    for (const auto& slot : all.slots) slot->first = slot->ring->appended();
  }
  if (add_hook(record, nullptr)) return {};
  const std::lock_guard lock(all.mutex);
  all.active = false;
  return {StatusCode::kResourceExhausted, "the table of hooks is full"};
}

void stop_recording() {
  remove_hook(record, nullptr);
  const std::lock_guard lock(recorder().mutex);
  recorder().active = false;
}

bool is_recording() noexcept {
  const std::lock_guard lock(recorder().mutex);
  return recorder().active;
}

void name_unit(uint16_t unit, std::string_view name) noexcept {
  try {
    const std::lock_guard lock(recorder().mutex);
    if (recorder().active) recorder().units[unit] = name;
  } catch (const std::bad_alloc&) {
    // The unit is known by its id.
  }
}

Recording current_recording() {
  Recorder& all = recorder();
  Recording recording;
  const std::lock_guard lock(all.mutex);
  recording.begin_ns = all.begin_ns;
  recording.dropped = all.without_ring.load(std::memory_order_relaxed);
  recording.threads = all.threads;
  recording.units = all.units;
  for (const auto& slot : all.slots)
    recording.dropped += slot->ring->read(slot->first, recording.events);
  recording.end_ns = now_ns();
  std::ranges::stable_sort(recording.events, {}, &Event::time_ns);
  return recording;
}

}  // namespace millrace::timeline
