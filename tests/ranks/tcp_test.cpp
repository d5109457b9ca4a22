// Ranks that are processes, over TCP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>
#include <utility>

#include "base/settings/environment.h"
#include "ranks/connect.h"
#include "tests/ranks/every_collective.h"
#include "tests/ranks/processes.h"
#include "tests/ranks/reference.h"

namespace millrace::ranks {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Eq;
using testing::HasSubstr;

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kLong(50);

std::shared_ptr<MessageCommunicator> connect_rank(const std::string& place, uint32_t rank,
                                                  uint32_t ranks,
                                                  std::chrono::nanoseconds timeout = kLong) {
  auto made = connect({.place = place,
                       .rank = rank,
                       .ranks = ranks,
                       .token = "a secret of this test",
                       .limit = {Clock::now() + kLong, nullptr}},
                      timeout);
  EXPECT_TRUE(made.ok()) << made.status().message();
  return made.ok() ? *made : nullptr;
}

Status reduce_in_place(Communicator& own, std::vector<float>& data, const Limit& limit = {}) {
  const auto bytes = std::as_writable_bytes(std::span(data));
  return own.all_reduce(bytes, bytes, Element::kFloat32, Reduction::kSum, limit);
}

TEST(TcpRanks, ReduceTheSameBitsAsTheReference) {
  for (const uint32_t ranks : {2, 3, 4, 7}) {
    const MeetingPlace place;
    EXPECT_THAT(
        run_processes(
            ranks,
            [&](uint32_t rank) {
              const auto own = connect_rank(place.text(), rank, ranks);
              ASSERT_NE(own, nullptr);
              for (const size_t count : {1, 1000, 50'000}) {
                const auto operands = patterns<Codec<float>>(ranks, count, 1);
                auto data = operands[rank];
                const Status status = reduce_in_place(*own, data);
                EXPECT_TRUE(status.ok()) << status.message();
                EXPECT_TRUE(data == expected_reduction<Codec<float>>(operands, Reduction::kSum))
                    << count;
              }
              own->leave(kLong);
            }),
        Each(Eq(0)));
  }
}

TEST(TcpRanks, RunEveryOperationAndGroupsOfThem) {
  const MeetingPlace place;
  EXPECT_THAT(
      run_processes(
          3,
          [&](uint32_t rank) {
            const auto own = connect_rank(place.text(), rank, 3);
            ASSERT_NE(own, nullptr);
            for (const size_t bytes : {16, 100'000}) {
              std::vector<std::byte> block(bytes, std::byte(rank)), all(3 * bytes);
              EXPECT_TRUE(own->all_gather(block, OutputBlocks(all.data(), bytes, 3), {}).ok());
              for (uint32_t r = 0; r < 3; ++r)
                EXPECT_EQ(std::count(all.begin() + r * bytes, all.begin() + (r + 1) * bytes,
                                     std::byte(r)),
                          bytes);
              const InputBlocks inputs(all.data(), bytes, 3);
              EXPECT_TRUE(own->all_to_all(inputs, OutputBlocks(all.data(), bytes, 3), {}).ok());
              EXPECT_EQ(size_t(std::ranges::count(all, std::byte(rank))), all.size());
              EXPECT_TRUE(own->broadcast(block, 2, {}).ok());
              EXPECT_EQ(block.back(), std::byte(2));
              EXPECT_TRUE(
                  own->reduce_scatter(inputs, block, Element::kUint8, Reduction::kSum, {}).ok());
              EXPECT_EQ(block.back(), std::byte(0 + 1 + 2));
              block.assign(bytes, std::byte(rank));
              EXPECT_TRUE(own->permute(block, (rank + 1) % 3, block, (rank + 2) % 3, {}).ok());
              EXPECT_EQ(block.back(), std::byte((rank + 2) % 3));
            }
            if (rank != 1) {
              const auto pair = own->group(std::vector<uint32_t>{0, 2}, 0);
              ASSERT_TRUE(pair.ok());
              std::vector<float> data(10, 1);
              EXPECT_TRUE(reduce_in_place(**pair, data).ok());
              EXPECT_EQ(data[9], 2);
            }
            EXPECT_TRUE(own->barrier({}).ok());
            own->leave(kLong);
          }),
      Each(Eq(0)));
}

TEST(TcpRanks, EveryCollectiveOfEveryTypeGivesTheBitsOfTheReference) {
  std::vector<uint32_t> counts = {2, 3};
  if (rank_runs() > 1) counts.push_back(16);
  for (const uint32_t ranks : counts) {
    const MeetingPlace place;
    EXPECT_THAT(run_processes(ranks,
                              [&](uint32_t rank) {
                                const auto own = connect_rank(place.text(), rank, ranks);
                                ASSERT_NE(own, nullptr);
                                for (uint32_t run = 0; run < rank_runs(); ++run) {
                                  alarm(60);
                                  expect_every_collective(*own, run);
                                }
                                own->leave(kLong);
                              }),
                Each(Eq(0)))
        << ranks << " ranks";
  }
}

TEST(TcpRanks, NameARankThatWasKilled) {
  const MeetingPlace place;
  EXPECT_THAT(
      run_processes(3,
                    [&](uint32_t rank) {
                      const auto own = connect_rank(place.text(), rank, 3);
                      ASSERT_NE(own, nullptr);
                      std::vector<float> data(100, 1);
                      EXPECT_TRUE(reduce_in_place(*own, data).ok());
                      if (rank == 1) raise(SIGKILL);
                      const Status status = reduce_in_place(*own, data);
                      EXPECT_EQ(status.code(), StatusCode::kIoError);
                      EXPECT_THAT(
                          status.message(),
                          HasSubstr("all_reduce 2 (FLOAT32 sum of 400 bytes): waiting for rank"));
                    }),
      ElementsAre(0, -SIGKILL, 0));
}

// Writes to a pipe when a call that waits asks for the first time whether to stop; never stops it.
class SaysThatItWaits final : public StopCheck {
 public:
  explicit SaysThatItWaits(int pipe) : pipe_(pipe) {}
  bool stop_requested() noexcept override {
    say();
    return false;
  }
  void say() noexcept {
    if (std::exchange(said_, true)) return;
    EXPECT_EQ(write(pipe_, "x", 1), 1);
  }

 private:
  const int pipe_;
  bool said_ = false;
};

// Rank 0 makes its call only after rank 1 waits in its own.
TEST(TcpRanks, NameARankThatWasKilledAlsoWhenTheyComeLater) {
  const MeetingPlace place;
  int waits[2];
  ASSERT_EQ(pipe(waits), 0);
  EXPECT_THAT(run_processes(3,
                            [&](uint32_t rank) {
                              const auto own = connect_rank(place.text(), rank, 3);
                              ASSERT_NE(own, nullptr);
                              EXPECT_TRUE(own->barrier({}).ok());
                              if (rank == 2) raise(SIGKILL);
                              char byte = 0;
                              if (rank == 0) {
                                EXPECT_EQ(read(waits[0], &byte, 1), 1);
                              }
                              SaysThatItWaits first(waits[1]);
                              std::vector<float> data(100, 1);
                              const Status status = reduce_in_place(
                                  *own, data, {kNoDeadline, rank == 1 ? &first : nullptr});
                              // The call may have failed without waiting; rank 0 must continue.
                              if (rank == 1) first.say();
                              EXPECT_EQ(status.code(), StatusCode::kIoError);
                              EXPECT_THAT(status.message(), HasSubstr("rank 2"));
                            }),
              ElementsAre(0, 0, -SIGKILL));
  for (const int end : waits) close(end);
}

TEST(TcpRanks, NameARankThatHangs) {
  const MeetingPlace place;
  int ready[2], over[2];
  ASSERT_TRUE(pipe(ready) == 0 && pipe(over) == 0);
  EXPECT_THAT(
      run_processes(
          2,
          [&](uint32_t rank) {
            const auto own = connect_rank(place.text(), rank, 2, std::chrono::milliseconds(300));
            ASSERT_NE(own, nullptr);
            char byte = 0;
            if (rank == 1) {  // until rank 0 has given up
              EXPECT_EQ(write(ready[1], &byte, 1), 1);
              EXPECT_EQ(read(over[0], &byte, 1), 1);
              // Rank 0 may have sent the message of this barrier before it gave up.
              (void)own->barrier({});
              EXPECT_FALSE(own->barrier({}).ok());
              return;
            }
            EXPECT_EQ(read(ready[0], &byte, 1), 1);
            EXPECT_THAT(
                own->barrier({}).message(),
                HasSubstr("barrier 1: waiting for rank 1: it has not answered within 0.3 s"));
            EXPECT_EQ(write(over[1], &byte, 1), 1);
          }),
      Each(Eq(0)));
  for (const int end : {ready[0], ready[1], over[0], over[1]}) close(end);
}

// One of three ranks is killed or late at a random operation. The others end with an error, or
// complete all their operations. MILLRACE_TEST_RANK_FAILURES says how often, instead of a dozen
// times.
TEST(TcpRanks, RandomKillsAndDelaysLoseNobody) {
  const uint64_t runs = number_variable("MILLRACE_TEST_RANK_FAILURES", 12, 1, 1'000'000).value();
  for (uint32_t run = 0; run < runs; ++run) {
    std::mt19937 random(run);
    const uint32_t victim = random() % 3, round_of_victim = random() % 10;
    const bool killed = random() % 2 == 0;
    const std::chrono::milliseconds delay(random() % 30);
    const MeetingPlace place;
    const std::vector<int> statuses = run_processes(3, [&](uint32_t rank) {
      const auto own = connect_rank(place.text(), rank, 3);
      ASSERT_NE(own, nullptr);
      Status status;
      for (uint32_t round = 0; round < 10 && status.ok(); ++round) {
        if (rank == victim && round == round_of_victim) {
          if (killed) raise(SIGKILL);
          std::this_thread::sleep_for(delay);
        }
        std::vector<float> data(random() % 2 == 0 ? 100 : 60'000, 1);
        status = reduce_in_place(*own, data);
        EXPECT_TRUE(!status.ok() || data.back() == 3);
      }
      EXPECT_EQ(status.ok(), !killed) << status.message();
      own->leave(kLong);
    });
    for (uint32_t rank = 0; rank < 3; ++rank)
      EXPECT_EQ(statuses[rank], killed && rank == victim ? -SIGKILL : 0) << "run " << run;
  }
}

}  // namespace
}  // namespace millrace::ranks
