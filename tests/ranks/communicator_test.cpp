// Tests the result of each operation, on threads. The operations are the same over every transport.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <random>
#include <string>

#include "base/exchange_events.h"
#include "base/hooks.h"
#include "tests/ranks/every_collective.h"
#include "tests/ranks/group.h"
#include "tests/ranks/reference.h"

namespace millrace::ranks {
namespace {

// Some counts fit into one frame, and some do not; none divides evenly among the ranks. Of 65537
// elements, four ranks have pieces of which three just fit into a frame, and one does not.
constexpr size_t kCounts[] = {1, 5003, 65537, 70001};
constexpr uint32_t kRanks[] = {1, 2, 3, 4, 7};

template <class T>
std::span<const std::byte> input_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}
template <class T>
std::span<std::byte> output_of(std::vector<T>& values) {
  return std::as_writable_bytes(std::span(values));
}

template <class Codec>
void expect_all_reduce(Element element, Reduction reduction) {
  for (const uint32_t ranks : kRanks) {
    const Group group = make_group(ranks);
    for (const size_t count : kCounts) {
      const auto operands = patterns<Codec>(ranks, count, ranks);
      const auto expected = expected_reduction<Codec>(operands, reduction);
      on_each_rank(group, [&](Communicator& own) {
        auto in_place = operands[own.rank()];
        auto output = in_place;
        EXPECT_TRUE(
            own.all_reduce(input_of(in_place), output_of(output), element, reduction, {}).ok());
        EXPECT_EQ(output, expected) << ranks << " ranks, " << count << " elements";
        EXPECT_TRUE(
            own.all_reduce(input_of(in_place), output_of(in_place), element, reduction, {}).ok());
        EXPECT_EQ(in_place, expected) << ranks << " ranks, " << count << " elements in place";
      });
    }
  }
}

TEST(Communicator, AllReduceGivesTheBitsOfTheTree) {
  expect_all_reduce<Codec<float>>(Element::kFloat32, Reduction::kSum);
  expect_all_reduce<Bf16Codec>(Element::kBf16, Reduction::kSum);
  expect_all_reduce<Codec<int32_t>>(Element::kInt32, Reduction::kMin);
  expect_all_reduce<Codec<uint8_t>>(Element::kUint8, Reduction::kMax);
}

TEST(Communicator, ReduceScatterGivesEachRankItsBlock) {
  for (const uint32_t ranks : kRanks) {
    const Group group = make_group(ranks);
    for (const size_t count : kCounts) {
      const auto operands = patterns<Codec<float>>(ranks, ranks * count, 3);
      const auto expected = expected_reduction<Codec<float>>(operands, Reduction::kSum);
      on_each_rank(group, [&](Communicator& own) {
        std::vector<float> output(count);
        const InputBlocks inputs(input_of(operands[own.rank()]).data(), count * 4, ranks);
        EXPECT_TRUE(
            own.reduce_scatter(inputs, output_of(output), Element::kFloat32, Reduction::kSum, {})
                .ok());
        EXPECT_TRUE(
            std::ranges::equal(output, std::span(expected).subspan(own.rank() * count, count)));
      });
    }
  }
}

TEST(Communicator, AllGatherPutsBlocksInTheOrderOfRanks) {
  for (const uint32_t ranks : kRanks) {
    const Group group = make_group(ranks);
    for (const size_t count : kCounts) {
      const auto operands = patterns<Codec<int32_t>>(ranks, count, 4);
      on_each_rank(group, [&](Communicator& own) {
        // In place: the input is the block of this rank.
        std::vector<int32_t> outputs(ranks * count);
        const auto block = std::span(outputs).subspan(own.rank() * count, count);
        std::ranges::copy(operands[own.rank()], block.begin());
        EXPECT_TRUE(own.all_gather(std::as_bytes(block),
                                   OutputBlocks(output_of(outputs).data(), count * 4, ranks), {})
                        .ok());
        for (uint32_t r = 0; r < ranks; ++r)
          EXPECT_TRUE(
              std::ranges::equal(std::span(outputs).subspan(r * count, count), operands[r]));
      });
    }
  }
}

TEST(Communicator, BroadcastGivesAllRanksTheDataOfTheRoot) {
  for (const uint32_t ranks : kRanks) {
    const Group group = make_group(ranks);
    for (const size_t count : kCounts) {
      const auto operands = patterns<Codec<int32_t>>(ranks, count, 5);
      on_each_rank(group, [&](Communicator& own) {
        for (uint32_t root = 0; root < ranks; ++root) {
          auto data = operands[own.rank()];
          EXPECT_TRUE(own.broadcast(output_of(data), root, {}).ok());
          EXPECT_EQ(data, operands[root]);
        }
      });
    }
  }
}

TEST(Communicator, AllToAllTransposesBlocks) {
  for (const uint32_t ranks : kRanks) {
    const Group group = make_group(ranks);
    for (const size_t count : kCounts) {
      const auto operands = patterns<Codec<int32_t>>(ranks, ranks * count, 6);
      on_each_rank(group, [&](Communicator& own) {
        std::vector<int32_t> outputs(ranks * count);
        auto in_place = operands[own.rank()];
        const auto exchange = [&](const std::vector<int32_t>& from, std::vector<int32_t>& to) {
          return own.all_to_all(InputBlocks(input_of(from).data(), count * 4, ranks),
                                OutputBlocks(output_of(to).data(), count * 4, ranks), {});
        };
        EXPECT_TRUE(exchange(operands[own.rank()], outputs).ok());
        EXPECT_TRUE(exchange(in_place, in_place).ok());
        for (uint32_t r = 0; r < ranks; ++r)
          EXPECT_TRUE(
              std::ranges::equal(std::span(outputs).subspan(r * count, count),
                                 std::span(operands[r]).subspan(own.rank() * count, count)));
        EXPECT_EQ(in_place, outputs);
      });
    }
  }
}

TEST(Communicator, PermuteMovesDataAlongARing) {
  for (const uint32_t ranks : kRanks) {
    const Group group = make_group(ranks);
    for (const size_t count : kCounts) {
      const auto operands = patterns<Codec<int32_t>>(ranks, count, 7);
      on_each_rank(group, [&](Communicator& own) {
        const uint32_t next = (own.rank() + 1) % ranks, before = (own.rank() + ranks - 1) % ranks;
        auto data = operands[own.rank()];
        EXPECT_TRUE(own.permute(input_of(data), next, output_of(data), before, {}).ok());
        EXPECT_EQ(data, operands[before]);
      });
    }
  }
}

TEST(Communicator, PermuteLeavesOutRanks) {
  const auto operands = patterns<Codec<int32_t>>(3, 5003, 8);
  on_each_rank(make_group(3), [&](Communicator& own) {  // rank 0 sends to rank 2 only
    auto data = operands[own.rank()];
    const std::optional<uint32_t> to = own.rank() == 0 ? std::optional(2u) : std::nullopt;
    const std::optional<uint32_t> from = own.rank() == 2 ? std::optional(0u) : std::nullopt;
    EXPECT_TRUE(own.permute(input_of(data), to, output_of(data), from, {}).ok());
    EXPECT_EQ(data, operands[own.rank() == 2 ? 0 : own.rank()]);
  });
}

TEST(Communicator, EveryCollectiveOfEveryTypeGivesTheBitsOfTheReference) {
  std::vector<uint32_t> counts = {1, 2, 3, 4, 7};
  if (rank_runs() > 1) counts.push_back(16);
  for (const uint32_t ranks : counts) {
    const Group group = make_group(ranks);
    for (uint32_t run = 0; run < rank_runs(); ++run)
      on_each_rank(group, [&](Communicator& own) { expect_every_collective(own, run); });
  }
}

TEST(Communicator, BarrierHoldsEveryRankUntilTheLastHasCome) {
  std::atomic<uint32_t> arrived = 0;
  on_each_rank(make_group(4), [&](Communicator& own) {
    for (uint32_t round = 1; round <= 20; ++round) {
      ++arrived;
      EXPECT_TRUE(own.barrier({}).ok());
      EXPECT_GE(arrived, 4 * round);
    }
  });
}

TEST(Communicator, GroupsAndChannelsAreIndependentOfEachOther) {
  const auto operands = patterns<Codec<float>>(4, 5003, 9);
  const std::vector<std::vector<float>> odd = {operands[3], operands[1]};
  const std::vector<std::vector<float>> even = {operands[0], operands[2]};
  const auto expected_odd = expected_reduction<Codec<float>>(odd, Reduction::kSum);
  const auto expected_even = expected_reduction<Codec<float>>(even, Reduction::kSum);
  on_each_rank(make_group(4), [&](Communicator& own) {
    const bool is_odd = own.rank() % 2 == 1;
    const std::vector<uint32_t> ranks =
        is_odd ? std::vector<uint32_t>{3, 1} : std::vector<uint32_t>{0, 2};
    const auto all = own.group(std::vector<uint32_t>{0, 1, 2, 3}, 0);
    const auto half = own.group(ranks, 0);
    const auto again = own.group(ranks, 1);
    ASSERT_TRUE(all.ok() && half.ok() && again.ok());
    EXPECT_EQ((*half)->size(), 2u);
    EXPECT_EQ((*half)->rank(), own.rank() == ranks[0] ? 0u : 1u);
    // The order differs on each half, which only a shared order would notice.
    for (const auto& channel : is_odd ? std::vector{*half, *again} : std::vector{*again, *half}) {
      auto data = operands[own.rank()];
      EXPECT_TRUE(
          channel
              ->all_reduce(input_of(data), output_of(data), Element::kFloat32, Reduction::kSum, {})
              .ok());
      EXPECT_EQ(data, is_odd ? expected_odd : expected_even);
    }
    EXPECT_TRUE((*all)->barrier({}).ok());
  });
}

TEST(Communicator, RefusesGroupsThatAreNone) {
  const Group group = make_group(2);
  EXPECT_EQ(group[0]->group(std::vector<uint32_t>{0, 2}, 0).status().message(),
            "there is no rank 2 in a group of 2");
  EXPECT_EQ(group[0]->group(std::vector<uint32_t>{0, 0}, 0).status().message(),
            "rank 0 is in the group twice");
  EXPECT_EQ(group[0]->group(std::vector<uint32_t>{1}, 0).status().message(),
            "rank 0 is not in the group that it asks for");
}

TEST(Communicator, RefusesSizesThatDoNotBelongTogetherWithoutAWordToTheOthers) {
  const Group group = make_group(2);
  std::vector<std::byte> memory(12);
  const auto first = [&](size_t bytes) { return std::span(memory).first(bytes); };
  const auto code = [](const Status& status) { return status.code(); };
  EXPECT_EQ(code(group[0]->all_reduce(first(6), first(6), Element::kFloat32, Reduction::kSum, {})),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(code(group[0]->all_reduce(first(8), first(4), Element::kFloat32, Reduction::kSum, {})),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(code(group[0]->all_gather(first(4), OutputBlocks(memory.data(), 4, 3), {})),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(code(group[0]->broadcast(first(4), 2, {})), StatusCode::kInvalidArgument);
  on_each_rank(group, [](Communicator& own) { EXPECT_TRUE(own.barrier({}).ok()); });
}

// Collects what observers receive of exchanges, from all threads.
class ExchangeRecorder {
 public:
  ExchangeRecorder() { EXPECT_TRUE(add_hook(record, this)); }
  ~ExchangeRecorder() { remove_hook(record, this); }

  // Returns "operation, ranks: bytes" for each that has begun, and checks that it has ended well.
  std::vector<std::string> ended() {
    std::vector<std::string> texts;
    for (const HookEvent& event : events_) {
      if (event.point != HookPoint::kExchangeBegan) continue;
      const auto [operation, ranks] = names_of_exchange(event.subject);
      texts.push_back(operation + ", " + ranks + ": " + std::to_string(event.detail));
      const auto ends = std::ranges::count_if(events_, [&](const HookEvent& end) {
        return end.point == HookPoint::kExchangeEnded && end.subject == event.subject &&
               end.detail == static_cast<uint64_t>(StatusCode::kOk);
      });
      EXPECT_EQ(ends, 1) << texts.back();
    }
    return texts;
  }

 private:
  static void record(void* self, const HookEvent& event) noexcept {
    auto& recorder = *static_cast<ExchangeRecorder*>(self);
    const std::lock_guard lock(recorder.mutex_);
    recorder.events_.push_back(event);
  }

  std::mutex mutex_;
  std::vector<HookEvent> events_;
};

TEST(Communicator, ObserversSeeWhatRanksExchange) {
  const Group group = make_group(2);
  ExchangeRecorder recorder;
  on_each_rank(group, [](Communicator& own) {
    const uint32_t rank = own.rank();
    std::vector<float> values(4), received(4);
    EXPECT_TRUE(own.all_reduce(input_of(values), output_of(received), Element::kFloat32,
                               Reduction::kSum, {})
                    .ok());
    EXPECT_TRUE(own.broadcast(output_of(values), 1, {}).ok());
    const auto to = rank == 0 ? std::optional(1U) : std::nullopt;
    const auto from = rank == 1 ? std::optional(0U) : std::nullopt;
    EXPECT_TRUE(own.permute(input_of(values), to, output_of(received), from, {}).ok());
  });
  EXPECT_THAT(recorder.ended(),
              testing::UnorderedElementsAre(
                  "all_reduce, rank 0 of 0, 1: 16", "all_reduce, rank 1 of 0, 1: 16",
                  "broadcast from 1, rank 0 of 0, 1: 16", "broadcast from 1, rank 1 of 0, 1: 16",
                  "permute to 1, rank 0 of 0, 1: 16", "permute from 0, rank 1 of 0, 1: 16"));
}

}  // namespace
}  // namespace millrace::ranks
