#include "base/seen_reasons.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace {
namespace {

using Answer = SeenReasons::Answer;

TEST(SeenReasons, TellsTheFirstFromTheOthers) {
  SeenReasons seen;
  EXPECT_EQ(seen.note("vart", "too small"), Answer::kNew);
  EXPECT_EQ(seen.note("vart", "too small"), Answer::kSeen);
  EXPECT_EQ(seen.note("nrt", "too small"), Answer::kNew);
  EXPECT_EQ(seen.note("vart", "too large"), Answer::kNew);
  EXPECT_EQ(seen.note("vart", ""), Answer::kNew);
}

TEST(SeenReasons, TakesNumbersForEqualButNotDigitsInNames) {
  SeenReasons seen;
  EXPECT_EQ(seen.note("a", "job 7: request 0x3f, after 10ms"), Answer::kNew);
  EXPECT_EQ(seen.note("a", "job 123: request 0xabc, after 9ms"), Answer::kSeen);
  EXPECT_EQ(seen.note("a", "tensor input_1"), Answer::kNew);
  EXPECT_EQ(seen.note("a", "tensor input_2"), Answer::kNew);
  EXPECT_EQ(seen.note("a", "tensor x1"), Answer::kNew);
}

TEST(SeenReasons, SaysOnceThatThereAreTooMany) {
  SeenReasons seen;
  const auto note = [&](size_t i) { return seen.note("a", "reason r" + std::to_string(i)); };
  for (size_t i = 0; i < SeenReasons::kMost; ++i) ASSERT_EQ(note(i), Answer::kNew) << i;
  EXPECT_EQ(note(SeenReasons::kMost), Answer::kTooMany);
  EXPECT_EQ(note(SeenReasons::kMost), Answer::kSeen);
  EXPECT_EQ(note(SeenReasons::kMost + 1), Answer::kSeen);
  EXPECT_EQ(note(0), Answer::kSeen);
}

}  // namespace
}  // namespace millrace
