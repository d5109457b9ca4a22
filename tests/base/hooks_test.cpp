#include "base/hooks.h"

#include <gtest/gtest.h>

#include <vector>

namespace millrace {
namespace {

void record(void* observer, const HookEvent& event) noexcept {
  static_cast<std::vector<HookEvent>*>(observer)->push_back(event);
}

TEST(Hooks, ObserverSeesEventsUntilRemoved) {
  std::vector<HookEvent> seen;
  ASSERT_TRUE(add_hook(record, &seen));
  emit(HookPoint::kSubmitted, 7, 1);
  remove_hook(record, &seen);
  emit(HookPoint::kSubmitted, 8);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].subject, 7u);
  EXPECT_EQ(seen[0].detail, 1u);
  EXPECT_GT(seen[0].time_ns, 0);
}

TEST(Hooks, FullTableRefuses) {
  std::vector<std::vector<HookEvent>> observers(9);
  for (size_t i = 0; i < 8; ++i) EXPECT_TRUE(add_hook(record, &observers[i]));
  EXPECT_FALSE(add_hook(record, &observers[8]));
  for (size_t i = 0; i < 8; ++i) remove_hook(record, &observers[i]);
}

}  // namespace
}  // namespace millrace
