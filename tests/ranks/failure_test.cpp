// No rank waits for ever: what each of them is told when another has died, is late, or calls
// something else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/ranks/group.h"

namespace millrace::ranks {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Status reduce_floats(Communicator& own, size_t count, const Limit& limit = {}) {
  std::vector<float> data(count, 1);
  const auto bytes = std::as_writable_bytes(std::span(data));
  return own.all_reduce(bytes, bytes, Element::kFloat32, Reduction::kSum, limit);
}

TEST(RankFailure, ARankThatEndsFailsWhatTheOthersWaitFor) {
  Group group = make_group(3);
  std::shared_ptr<Communicator> dead = std::move(group.back());
  group.pop_back();
  dead.reset();
  on_each_rank(group, [](Communicator& own) {
    const Status status = reduce_floats(own, 10);
    EXPECT_EQ(status.code(), StatusCode::kIoError);
    EXPECT_THAT(status.message(), HasSubstr("all_reduce 1 (FLOAT32 sum of 40 bytes): waiting for"));
  });
}

TEST(RankFailure, ALateRankIsNamedWhenTheTimeIsOver) {
  Group group = make_group(2, std::chrono::milliseconds(100));
  const Status status = reduce_floats(*group[0], 10);
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(status.message(), HasSubstr("waiting for rank 1: it has not answered within 0.1 s"));
}

TEST(RankFailure, ADeadlineEndsACall) {
  Group group = make_group(2);
  const Status status =
      group[0]->barrier({.deadline = std::chrono::steady_clock::now(), .stop = nullptr});
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
}

TEST(RankFailure, ARequestToStopEndsACall) {
  struct Stop : StopCheck {
    bool stop_requested() noexcept override { return true; }
  } stop;
  Group group = make_group(2);
  const Status status = group[0]->barrier({.deadline = kNoDeadline, .stop = &stop});
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
}

TEST(RankFailure, DifferentCallsAreNamedOnBothSides) {
  on_each_rank(make_group(2), [](Communicator& own) {
    const Status status = own.rank() == 0 ? reduce_floats(own, 4) : own.barrier({});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr("all_reduce 1 (FLOAT32 sum of 16 bytes)"), HasSubstr("barrier 1"),
                      HasSubstr("rank 0 "), HasSubstr("rank 1 ")));
  });
}

TEST(RankFailure, DifferentSizesAreNamedAndNotWaitedFor) {
  on_each_rank(make_group(3), [](Communicator& own) {
    const Status status = reduce_floats(own, own.rank() == 1 ? 100000 : 4);
    EXPECT_FALSE(status.ok());
    if (own.rank() == 1) {
      EXPECT_THAT(status.message(), AllOf(HasSubstr("of 400000 bytes"), HasSubstr("of 16 bytes")));
    }
  });
}

TEST(RankFailure, APermutationThatDoesNotMatchIsNamed) {
  on_each_rank(make_group(2), [](Communicator& own) {
    std::byte in[4] = {}, out[4] = {};
    // Rank 0 expects what rank 1 does not send.
    const std::optional<uint32_t> from = own.rank() == 0 ? std::optional(1u) : std::nullopt;
    const Status status = own.permute(in, std::nullopt, out, from, {});
    if (own.rank() == 0) {
      EXPECT_THAT(status.message(), HasSubstr("rank 1 sends 0 bytes to rank 0, which expects 4"));
    }
  });
}

TEST(RankFailure, AFailedCommunicatorRepeatsTheCauseAtOnce) {
  Group group = make_group(2, std::chrono::milliseconds(50));
  const auto other = group[0]->group(std::vector<uint32_t>{0, 1}, 3);
  const Status first = reduce_floats(*group[0], 10);
  EXPECT_EQ(group[0]->barrier({}).message(), first.message());
  EXPECT_EQ((*other)->barrier({}).message(), first.message());
}

TEST(RankFailure, ARankThatComesLaterIsToldWhyTheOtherGaveUp) {
  Group group = make_group(2, std::chrono::milliseconds(50));
  EXPECT_FALSE(group[0]->barrier({}).ok());
  // Rank 0 has been at the first barrier, and has given up since.
  EXPECT_TRUE(group[1]->barrier({}).ok());
  EXPECT_THAT(group[1]->barrier({}).message(),
              HasSubstr("barrier 2: rank 0 has given up: barrier 1: waiting for rank 1"));
}

// Ranks die one after another, at random points of a loop of collectives of all sizes; all others
// end with an error or with the loop, and none hangs.
TEST(RankFailure, RandomDeathsLoseNobody) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    Group group = make_group(4);
    const uint32_t victim = seed % 4;
    std::atomic<uint32_t> failed = 0;
    std::vector<std::thread> threads;
    for (auto& communicator : group)
      threads.emplace_back([&failed, own = std::move(communicator), victim, seed]() mutable {
        for (uint32_t round = 0; round < 20; ++round) {
          if (own->rank() == victim && round == seed) return own.reset();
          if (!reduce_floats(*own, round % 2 == 0 ? 100 : 100000).ok()) {
            ++failed;
            return own.reset();
          }
        }
      });
    group.clear();
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(failed, 3u) << "seed " << seed;
  }
}

}  // namespace
}  // namespace millrace::ranks
