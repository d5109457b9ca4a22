// An event is four words, which are read and written as atomic objects. The writer stores words
// with release order, and the reader loads them with acquire order. So a reader that sees a word of
// a newer event also sees, when it looks at the count again, that the older event has been
// replaced.
#include "timeline/ring.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace millrace::timeline {
namespace {

using Packed = std::array<uint64_t, 4>;

constexpr int kPointBits = 8;

Packed pack(const Event& event) noexcept {
  return {static_cast<uint64_t>(event.time_ns), event.subject, event.detail,
          uint64_t{event.thread} << kPointBits | static_cast<uint64_t>(event.point)};
}

Event unpack(const Packed& words) noexcept {
  return {.time_ns = static_cast<int64_t>(words[0]),
          .subject = words[1],
          .detail = words[2],
          .thread = static_cast<ThreadId>(words[3] >> kPointBits),
          .point = static_cast<HookPoint>(words[3] & ((1u << kPointBits) - 1))};
}

}  // namespace

std::unique_ptr<Ring> Ring::make(size_t room) noexcept {
  // calloc() leaves large memory to the system, which supplies a page when it is first used.
  Words words(static_cast<uint64_t*>(std::calloc(room * kWords, sizeof(uint64_t))));
  if (words == nullptr) return nullptr;
  return std::unique_ptr<Ring>(new (std::nothrow) Ring(std::move(words), room));
}

void Ring::append(const Event& event) noexcept {
  const uint64_t number = appended_.load(std::memory_order_relaxed);
  uint64_t* const words = place(number);
  const Packed packed = pack(event);
  for (size_t i = 0; i < kWords; ++i)
    std::atomic_ref(words[i]).store(packed[i], std::memory_order_release);
  appended_.store(number + 1, std::memory_order_release);
}

uint64_t Ring::read(uint64_t first, std::vector<Event>& events) const {
  const auto oldest = [&](uint64_t appended) {
    return std::max(first, appended >= room_ ? appended - room_ + 1 : 0);
  };
  const uint64_t end = appended();
  uint64_t begin = oldest(end);
  const size_t before = events.size();
  for (uint64_t number = begin; number < end; ++number) {
    Packed packed;
    for (size_t i = 0; i < kWords; ++i)
      packed[i] = std::atomic_ref(place(number)[i]).load(std::memory_order_acquire);
    events.push_back(unpack(packed));
  }
  // Events that were replaced while they were read are removed again.
  const uint64_t kept = std::min(oldest(appended()), end);
  const auto from = events.begin() + static_cast<std::ptrdiff_t>(before);
  events.erase(from, from + static_cast<std::ptrdiff_t>(kept - begin));
  return kept - first;
}

}  // namespace millrace::timeline
