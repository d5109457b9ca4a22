// Steady state allocates nothing: a program of its own, because it replaces operator new.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "queue/unit.h"
#include "tests/queue/function_task.h"
#include "tests/support/gate.h"

namespace {

std::atomic<size_t> allocations{0};

void* counted(size_t bytes, size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment))
    return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(size_t bytes) {
  return counted(bytes, alignof(std::max_align_t));
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace millrace::queue {
namespace {

class AllocationFreeSpinning : public ::testing::TestWithParam<std::chrono::microseconds> {};

TEST_P(AllocationFreeSpinning, SubmitRunAndWait) {
  Lanes lanes({.count = 2, .spin = GetParam()});
  UnitOptions options = function_unit(2);
  options.wait_spin = GetParam();
  const auto unit = make_unit(lanes, std::move(options));
  const auto other = make_unit(lanes, 2);
  const auto round = [&] {
    const Result<SequenceId> first = submit(*unit, nothing);
    const Result<SequenceId> second = submit(*unit, nothing);
    const Result<SequenceId> elsewhere = submit(*other, nothing);
    return first.ok() && second.ok() && elsewhere.ok() && unit->wait(*second, kForever).ok() &&
           other->wait(*elsewhere, kForever).ok();
  };
  ASSERT_TRUE(round());
  const size_t before = allocations;
  bool all_ok = true;
  for (int i = 0; i < 1000; ++i) all_ok &= round();
  EXPECT_EQ(allocations - before, 0u);
  EXPECT_TRUE(all_ok);
}

INSTANTIATE_TEST_SUITE_P(Spin, AllocationFreeSpinning,
                         ::testing::Values(std::chrono::microseconds(0),
                                           std::chrono::microseconds(20)));

TEST(AllocationFree, RefusalAndPoll) {
  Lanes lanes({.count = 1});
  const auto unit = make_unit(lanes, 1);
  test::TaskGate gate;
  const SequenceId id = *submit(*unit, [&](LaneId) {
    gate.pass();
    return Status();
  });
  gate.await_arrivals(1);
  const size_t before = allocations;
  const StatusCode refused = submit(*unit, nothing).status().code();
  const StatusCode polled = unit->wait(id, std::chrono::nanoseconds(0)).code();
  EXPECT_EQ(allocations - before, 0u);
  EXPECT_EQ(refused, StatusCode::kQueueFull);
  EXPECT_EQ(polled, StatusCode::kPending);
  gate.open();
}

}  // namespace
}  // namespace millrace::queue
