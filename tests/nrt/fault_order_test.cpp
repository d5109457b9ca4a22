// Injected faults affect requests by their number in the order in which they are accepted, over all
// units.
#include "tests/nrt/nrt_fixture.h"

namespace millrace::test {
namespace {

class FaultOrder : public NrtModelTest {
 protected:
  // Schedules three requests, two for one unit and the third for another. The third arrives at
  // the device before the second. The second is to fail, with the status of each in `ret`.
  template <class Schedule>
  void expect_second_fails(device::FaultPlan& plan, Schedule&& schedule) {
    const uint64_t arrived = plan.arrivals();
    plan.hold();
    plan.fail_nth(2, internal_error("no result"));
    NRT_STATUS ret[] = {kUntouched, kUntouched, kUntouched};
    nrta_seq_t sequences[3] = {};
    for (int i = 0; i < 3; ++i)
      ASSERT_EQ(schedule(i == 2 ? 1 : 0, &ret[i], &sequences[i]), NRT_SUCCESS);
    plan.await_arrivals(arrived + 2);
    plan.release();
    for (const nrta_seq_t sequence : sequences) await(sequence);
    EXPECT_EQ(ret[0], NRT_SUCCESS);
    EXPECT_EQ(ret[1], NRT_EXEC_COMPLETED_WITH_ERR);
    EXPECT_EQ(ret[2], NRT_SUCCESS);
  }
};

TEST_F(FaultOrder, HoldsForTransfersOfSeveralQueues) {
  expect_second_fails(transfers(), [&](int queue, NRT_STATUS* ret, nrta_seq_t* sequence) {
    return schedule_write(ret, sequence, queue);
  });
}

TEST_F(FaultOrder, HoldsForExecutionsOfSeveralCores) {
  nrt_model_t* const other = load(1);
  const ScopedTensor input(kTinyInputBytes, 1), output(kTinyOutputBytes, 1);
  const ScopedSet inputs(kTinyInput, input.get()), outputs(kTinyOutput, output.get());
  expect_second_fails(executions(), [&](int core, NRT_STATUS* ret, nrta_seq_t* sequence) {
    return core == 0 ? schedule(ret, sequence)
                     : nrta_execute_schedule(other, inputs.get(), outputs.get(), 0, ret, sequence);
  });
}

}  // namespace
}  // namespace millrace::test
