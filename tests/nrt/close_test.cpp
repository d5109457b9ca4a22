// nrt_close while requests run and threads are inside calls.
#include <array>
#include <atomic>

#include "tests/nrt/event_fd.h"
#include "tests/nrt/nrt_fixture.h"

namespace millrace::test {
namespace {

// A request may run for two seconds, so that closing does not wait for long.
class CloseWhile : public NrtModelTest {
 protected:
  CloseWhile() : NrtModelTest("faulty-cpu", {{"NEURON_RT_EXEC_TIMEOUT", "2"}}) {}
};

TEST_F(CloseWhile, RequestsArePendingEndsThemAll) {
  executions().hold();
  transfers().hold();
  std::array<NRT_STATUS, 3> computed{kUntouched, kUntouched, kUntouched}, written = computed;
  std::array<EventFd, 2> events;
  nrta_seq_t execution = 0, transfer = 0;
  for (NRT_STATUS& ret : computed) ASSERT_EQ(schedule(&ret, &execution), NRT_SUCCESS);
  for (NRT_STATUS& ret : written) ASSERT_EQ(schedule_write(&ret, &transfer), NRT_SUCCESS);
  ASSERT_EQ(nrta_event_register_seq_id_completion(execution, events[0].get()), NRT_SUCCESS);
  ASSERT_EQ(nrta_event_register_seq_id_completion(transfer, events[1].get()), NRT_SUCCESS);
  executions().await_holds(1);
  transfers().await_holds(1);
  nrt_close();
  EXPECT_EQ(computed, (std::array{NRT_TIMEOUT, NRT_CLOSED, NRT_CLOSED}));
  EXPECT_EQ(written, (std::array{NRT_TIMEOUT, NRT_CLOSED, NRT_CLOSED}));
  for (EventFd& event : events) EXPECT_EQ(event.take(), 1u);
}

TEST_F(CloseWhile, ThreadsAreInsideLetsThemReturn) {
  executions().hold();
  const uint64_t held_before = executions().counts().holds;
  std::atomic<int> timed_out{0}, closed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      const NRT_STATUS status = execute();
      if (status == NRT_TIMEOUT) ++timed_out;
      if (status == NRT_CLOSED) ++closed;
    });
  threads.emplace_back(
      [&] { EXPECT_EQ(nrt_tensor_check_output_completion(output_.get(), -1, 1), NRT_CLOSED); });
  executions().await_holds(held_before + 1);
  nrt_close();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(timed_out, 1);
  EXPECT_EQ(closed, 2);
}

class Close : public NrtModelTest {};

TEST_F(Close, LetsRunningRequestsFinish) {
  executions().hold();
  const uint64_t held_before = executions().counts().holds;
  NRT_STATUS ret = kUntouched;
  nrta_seq_t sequence = 0;
  ASSERT_EQ(schedule(&ret, &sequence), NRT_SUCCESS);
  executions().await_holds(held_before + 1);
  std::thread closing([] { nrt_close(); });
  bool completed = false;
  while (nrta_is_completed(sequence, &completed) == NRT_SUCCESS) std::this_thread::yield();
  EXPECT_EQ(ret, kUntouched);
  executions().release();
  closing.join();
  EXPECT_EQ(ret, NRT_SUCCESS);
}

TEST_F(Close, MayHappenWhileOthersPollAndSoMayAnotherInit) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (!stop) {
        nrta_seq_t sequence = 0;
        bool completed = false;
        const NRT_STATUS last = nrta_get_sequence(0, NRTA_XU_COMPUTE, 0, &sequence);
        EXPECT_TRUE(last == NRT_SUCCESS || last == NRT_CLOSED) << last;
        const NRT_STATUS known = nrta_is_completed(sequence + 1, &completed);
        EXPECT_TRUE(known == NRT_SUCCESS || known == NRT_INVALID || known == NRT_CLOSED) << known;
      }
    });
  for (int round = 0; round < 20; ++round) {
    nrt_close();
    ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
    nrt_model_t* const model = load();
    const ScopedTensor input(kTinyInputBytes), output(kTinyOutputBytes);
    const ScopedSet inputs(kTinyInput, input.get()), outputs(kTinyOutput, output.get());
    EXPECT_EQ(nrta_execute_schedule(model, inputs.get(), outputs.get(), 0,
                                    static_cast<NRT_STATUS*>(nullptr), nullptr),
              NRT_SUCCESS);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace millrace::test
