// Error trackers: the 2.28 way to learn of failures.
#include "tests/nrt/calls_v2.h"
#include "tests/nrt/nrt_fixture.h"

namespace millrace::test {
namespace {

using Errors = std::vector<std::pair<nrta_seq_t, uint64_t>>;

class Tracker : public NrtModelTest {
 protected:
  Tracker() { EXPECT_EQ(nrta_error_tracker_create(0, &tracker_), NRT_SUCCESS); }
  ~Tracker() override { nrta_error_tracker_destroy(tracker_); }

  nrta_seq_t schedule_tracked() {
    nrta_seq_t sequence = 0;
    EXPECT_EQ(nrta_execute_schedule(model_, inputs_.get(), outputs_.get(), 0, tracker_, &sequence),
              NRT_SUCCESS);
    return sequence;
  }
  Errors take() {
    const nrta_error_t* list = nullptr;
    size_t count = 0;
    EXPECT_EQ(nrta_error_tracker_get_list(tracker_, &list, &count), NRT_SUCCESS);
    EXPECT_EQ(list == nullptr, count == 0);
    Errors errors;
    for (size_t i = 0; i < count; ++i) errors.emplace_back(list[i].seq_id, list[i].error_code);
    return errors;
  }
  void fail_next(uint64_t n = 1) { executions().fail_nth(n, internal_error("no result")); }

  nrta_error_tracker_t* tracker_ = nullptr;
};

TEST_F(Tracker, GetsIdAndCodeOfWhatFailedInTheOrderOfCompletion) {
  fail_next(2);
  fail_next(3);
  for (int i = 0; i < 3; ++i) schedule_tracked();
  const nrta_seq_t last = schedule_tracked();
  await(last);
  EXPECT_EQ(take(), (Errors{{last - 2, NRT_EXEC_COMPLETED_WITH_ERR},
                            {last - 1, NRT_EXEC_COMPLETED_WITH_ERR}}));
}

TEST_F(Tracker, ForgetsWhatWasFetched) {
  fail_next();
  await(schedule_tracked());
  EXPECT_EQ(take().size(), 1u);
  EXPECT_EQ(take(), Errors());
  fail_next();
  const nrta_seq_t again = schedule_tracked();
  await(again);
  EXPECT_EQ(take(), (Errors{{again, NRT_EXEC_COMPLETED_WITH_ERR}}));
}

TEST_F(Tracker, HasTheErrorBeforeTheRequestCountsAsCompleted) {
  executions().fail_all(internal_error("no result"));
  for (int round = 0; round < 200; ++round) {
    const nrta_seq_t sequence = schedule_tracked();
    while (last_completed(NRTA_XU_COMPUTE) < sequence) std::this_thread::yield();
    ASSERT_EQ(take(), (Errors{{sequence, NRT_EXEC_COMPLETED_WITH_ERR}}));
  }
}

TEST_F(Tracker, ServesRequestsOfOtherCoresToo) {
  transfers().fail_all(internal_error("no transfer"));
  const ScopedTensor elsewhere(kTinyInputBytes, 1);
  nrta_seq_t write = 0;
  ASSERT_EQ(
      nrta_tensor_write(elsewhere.get(), host_.data(), 0, kTinyInputBytes, 0, tracker_, &write),
      NRT_SUCCESS);
  EXPECT_EQ(NRTA_SEQ_LNC(write), 1u);
  await(write);
  EXPECT_EQ(take(), (Errors{{write, NRT_EXEC_COMPLETED_WITH_ERR}}));
}

TEST_F(Tracker, ServesAllUnitsOfItsCore) {
  transfers().fail_all(internal_error("no transfer"));
  nrta_seq_t write = 0, v2 = 0;
  ASSERT_EQ(nrta_tensor_write(input_.get(), host_.data(), 0, kTinyInputBytes, 0, tracker_, &write),
            NRT_SUCCESS);
  await(write);
  ASSERT_EQ(v2_write(input_.get(), host_.data(), kTinyInputBytes, 0, tracker_, &v2), NRT_SUCCESS);
  await(v2);
  EXPECT_EQ(take(),
            (Errors{{write, NRT_EXEC_COMPLETED_WITH_ERR}, {v2, NRT_EXEC_COMPLETED_WITH_ERR}}));
}

TEST_F(Tracker, MayBeDestroyedWithRequestsPending) {
  executions().hold();
  fail_next();
  schedule_tracked();
  const nrta_seq_t last = schedule_tracked();
  nrta_error_tracker_destroy(std::exchange(tracker_, nullptr));
  executions().release();
  await(last);
}

TEST_F(Tracker, MayBeMissing) {
  fail_next();
  nrta_seq_t sequence = 0;
  ASSERT_EQ(v2_execute(model_, inputs_.get(), outputs_.get(), nullptr, &sequence), NRT_SUCCESS);
  await(sequence);
  nrta_error_tracker_destroy(nullptr);
  EXPECT_EQ(take(), Errors());
}

TEST_F(Tracker, RefusesUnknownCoresAndDeadHandles) {
  nrta_error_tracker_t* other = nullptr;
  EXPECT_EQ(nrta_error_tracker_create(2, &other), NRT_INVALID);
  EXPECT_EQ(nrta_error_tracker_create(0, nullptr), NRT_INVALID);
  EXPECT_EQ(other, nullptr);
  const nrta_error_t* list = nullptr;
  size_t count = 7;
  EXPECT_EQ(nrta_error_tracker_get_list(nullptr, &list, &count), NRT_INVALID_HANDLE);
  nrta_error_tracker_t* const dead = tracker_;
  nrta_error_tracker_destroy(std::exchange(tracker_, nullptr));
  EXPECT_EQ(nrta_error_tracker_get_list(dead, &list, &count), NRT_INVALID_HANDLE);
  nrta_seq_t sequence = 77;
  EXPECT_EQ(nrta_execute_schedule(model_, inputs_.get(), outputs_.get(), 0, dead, &sequence),
            NRT_INVALID_HANDLE);
  EXPECT_EQ(count, 7u);
  EXPECT_EQ(sequence, 77u);
}

TEST_F(Tracker, RecordsWhileItIsRead) {
  executions().fail_all(internal_error("no result"));
  constexpr size_t kRequests = 200;
  std::thread scheduler([&] {
    for (size_t i = 0; i < kRequests; ++i) await(schedule_tracked());
  });
  size_t errors = 0;
  while (errors < kRequests) errors += take().size();
  scheduler.join();
  EXPECT_EQ(errors, kRequests);
}

}  // namespace
}  // namespace millrace::test
