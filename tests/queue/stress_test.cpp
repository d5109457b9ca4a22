// Many producers on one and on several units: no request is lost, none runs twice, and the lanes do
// the work.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "queue/units/unit.h"
#include "tests/queue/function_task.h"

namespace millrace::queue {
namespace {

constexpr uint32_t kProducers = 8;
constexpr uint32_t kRequests = 1'000'000;
constexpr uint32_t kPerProducer = kRequests / kProducers;

// Counts in `runs` how often each request ran and keeps the lanes' thread ids.
class CountingTask final : public Task {
 public:
  CountingTask(std::vector<std::atomic<uint8_t>>& runs, std::vector<std::thread::id>& ran_on)
      : runs_(runs), ran_on_(ran_on) {}

  Status run(RunControl& control) noexcept override {
    runs_[number].fetch_add(1, std::memory_order_relaxed);
    ran_on_[control.lane()] = std::this_thread::get_id();
    return {};
  }
  void release() noexcept override {}

  uint32_t number = 0;

 private:
  std::vector<std::atomic<uint8_t>>& runs_;
  std::vector<std::thread::id>& ran_on_;
};

struct Produced {
  std::thread::id thread;
  std::vector<SequenceId> ids;
};

Produced produce(Unit& unit, uint32_t first) {
  Produced produced{std::this_thread::get_id(), {}};
  produced.ids.reserve(kPerProducer);
  while (produced.ids.size() < kPerProducer) {
    const uint32_t number = first + static_cast<uint32_t>(produced.ids.size());
    const Result<SequenceId> id =
        unit.submit([&](Task& task) { static_cast<CountingTask&>(task).number = number; });
    if (id.ok())
      produced.ids.push_back(*id);
    else
      std::this_thread::yield();
  }
  return produced;
}

class Stress : public ::testing::TestWithParam<uint32_t> {};

TEST_P(Stress, EightProducersAMillionRequests) {
  const uint32_t unit_count = GetParam();
  Lanes lanes({.count = 2});
  std::vector<std::atomic<uint8_t>> runs(kRequests);
  std::vector<std::thread::id> ran_on(lanes.count());
  std::vector<std::unique_ptr<Unit>> units;
  for (uint32_t i = 0; i < unit_count; ++i) {
    UnitOptions options;
    options.depth = 256;
    options.make_task = [&] { return std::make_unique<CountingTask>(runs, ran_on); };
    units.push_back(make_unit(lanes, std::move(options)));
  }

  std::vector<Produced> produced(kProducers);
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < kProducers; ++i)
    threads.emplace_back(
        [&, i] { produced[i] = produce(*units[i % unit_count], i * kPerProducer); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& unit : units) ASSERT_TRUE(unit->wait(unit->last_submitted(), kForever).ok());

  size_t lost = 0;
  size_t repeated = 0;
  for (const std::atomic<uint8_t>& count : runs) {
    lost += count == 0;
    repeated += count > 1;
  }
  EXPECT_EQ(lost, 0u);
  EXPECT_EQ(repeated, 0u);

  for (const auto& unit : units) {
    std::vector<bool> issued(counter_of(unit->last_submitted()));
    for (const Produced& producer : produced)
      for (const SequenceId id : producer.ids)
        if (unit_of(id) == unit->id()) {
          ASSERT_LE(counter_of(id), issued.size());
          ASSERT_FALSE(issued[counter_of(id) - 1]) << "issued twice: " << id;
          issued[counter_of(id) - 1] = true;
        }
    EXPECT_EQ(std::count(issued.begin(), issued.end(), false), 0) << "gap in the ids";
    EXPECT_EQ(unit->in_flight(), 0u);
  }
  for (const Produced& producer : produced)
    for (const std::thread::id lane : ran_on) EXPECT_NE(producer.thread, lane);
}

INSTANTIATE_TEST_SUITE_P(Units, Stress, ::testing::Values(1u, 4u));

// Waiters that park and wake against lanes that park and wake: a lost wake-up would hang.
TEST(Stress, EveryWaiterIsWokenWithoutAnySpinning) {
  Lanes lanes({.count = 2, .spin = std::chrono::microseconds(0)});
  UnitOptions options = function_unit(kProducers);
  options.wait_spin = options.wait_spin.zero();
  const auto unit = make_unit(lanes, std::move(options));
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < kProducers; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 2000; ++round) {
        const Result<SequenceId> id = submit(*unit, nothing);
        ASSERT_TRUE(id.ok());
        ASSERT_TRUE(unit->wait(*id, kForever).ok());
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter_of(unit->last_completed()), kProducers * 2000u);
}

}  // namespace
}  // namespace millrace::queue
