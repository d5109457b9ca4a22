// The ring keeps the last events, and says how many it has lost.
#include "timeline/ring.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace millrace::timeline {
namespace {

constexpr size_t kRoom = 8;

Event numbered(uint64_t number) {
  return {.time_ns = static_cast<int64_t>(number),
          .subject = number,
          .detail = ~number,
          .thread = 0xffff'ffff,
          .point = HookPoint::kPhaseBegan};
}

TEST(Ring, KeepsWholeEventsInOrder) {
  const auto ring = Ring::make(kRoom);
  for (uint64_t i = 0; i < 5; ++i) ring->append(numbered(i));
  std::vector<Event> events;
  EXPECT_EQ(ring->read(0, events), 0u);
  ASSERT_EQ(events.size(), 5u);
  for (uint64_t i = 0; i < 5; ++i) EXPECT_EQ(events[i], numbered(i));
}

TEST(Ring, CountsTheOldestThatItLoses) {
  const auto ring = Ring::make(kRoom);
  for (uint64_t i = 0; i < 20; ++i) ring->append(numbered(i));
  std::vector<Event> events;
  EXPECT_EQ(ring->read(0, events), 13u);
  ASSERT_EQ(events.size(), kRoom - 1);
  EXPECT_EQ(events.front(), numbered(13));
  EXPECT_EQ(events.back(), numbered(19));
}

TEST(Ring, ReadsFromTheEventThatIsAskedFor) {
  const auto ring = Ring::make(kRoom);
  for (uint64_t i = 0; i < 6; ++i) ring->append(numbered(i));
  std::vector<Event> events;
  EXPECT_EQ(ring->read(4, events), 0u);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0], numbered(4));
  EXPECT_EQ(ring->read(6, events), 0u);
  EXPECT_EQ(events.size(), 2u);
}

// Events that are read while the writer goes round the ring are whole, in order and without gaps.
TEST(Ring, IsReadWhileItIsWritten) {
  constexpr uint64_t kEvents = 200'000;
  const auto ring = Ring::make(64);
  std::thread writer([&] {
    for (uint64_t i = 0; i < kEvents; ++i) ring->append(numbered(i));
  });
  while (ring->appended() < kEvents) {
    std::vector<Event> events;
    const uint64_t lost = ring->read(0, events);
    for (uint64_t i = 0; i < events.size(); ++i) ASSERT_EQ(events[i], numbered(lost + i));
  }
  writer.join();
}

}  // namespace
}  // namespace millrace::timeline
