// All ways to run a batch, on every device, through every pair of views.
#include <gmock/gmock.h>

#include <future>
#include <thread>

#include "tests/vart/face_fixture.h"

namespace millrace::vartml {
namespace {

using Way = StatusCode (*)(Runner& runner, const Tensors& inputs, Tensors& outputs);

StatusCode by_execute(Runner& runner, const Tensors& inputs, Tensors& outputs) {
  return runner.execute(inputs, outputs);
}

StatusCode by_job(Runner& runner, const Tensors& inputs, Tensors& outputs) {
  const JobHandle job = runner.execute_async(inputs, outputs);
  EXPECT_EQ(job.status, StatusCode::SUCCESS);
  return runner.wait(job, kForever);
}

StatusCode by_callback(Runner& runner, const Tensors& inputs, Tensors& outputs) {
  std::promise<JobHandle> promise;
  const JobHandle job = runner.execute_async(
      inputs, outputs, [&](const JobHandle& done) { promise.set_value(done); });
  const JobHandle done = promise.get_future().get();
  EXPECT_EQ(done.job_id, job.job_id);
  EXPECT_EQ(runner.wait(job, kForever), done.status);
  return done.status;
}

StatusCode by_callback_with_data(Runner& runner, const Tensors& inputs, Tensors& outputs) {
  std::promise<JobHandle> promise;
  const JobHandle job = runner.execute_async(
      inputs, outputs,
      [](const JobHandle& done, void* data) {
        static_cast<std::promise<JobHandle>*>(data)->set_value(done);
      },
      &promise);
  const JobHandle done = promise.get_future().get();
  EXPECT_EQ(done.job_id, job.job_id);
  EXPECT_EQ(runner.wait(job, kForever), done.status);
  return done.status;
}

constexpr Way kWays[] = {by_execute, by_job, by_callback, by_callback_with_data};

class FaceExecute : public FaceTest {};

TEST_P(FaceExecute, EveryFrameGetsItsOwnResultAndFurtherOutputsStay) {
  constexpr size_t kBatch = 4;
  const std::shared_ptr<Runner> runner = make_face(kBatch);
  for (const Way way : kWays)
    for (size_t frames = 1; frames <= kBatch; ++frames) {
      const Tensors in = numbered_inputs(*runner, frames);
      Tensors shrunk = untouched_outputs(*runner, frames),
              full = untouched_outputs(*runner, kBatch);
      EXPECT_EQ(way(*runner, in, shrunk), StatusCode::SUCCESS);
      EXPECT_EQ(way(*runner, in, full), StatusCode::SUCCESS);
      expect_results(shrunk, frames);
      expect_results(full, frames);
    }
}

TEST_P(FaceExecute, ThreadsShareARunnerInEveryWay) {
  const std::shared_ptr<Runner> runner = make_face(2, {{"max_concurrent_runs", 8u}});
  std::vector<std::thread> threads;
  for (const Way way : kWays)
    threads.emplace_back([&runner, way] {
      const Tensors in = numbered_inputs(*runner, 2);
      for (int round = 0; round < 20; ++round) {
        Tensors out = untouched_outputs(*runner, 2);
        EXPECT_EQ(way(*runner, in, out), StatusCode::SUCCESS);
        expect_results(out, 2);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_P(FaceExecute, RunnersOfOneProcessDoNotDisturbEachOther) {
  const std::shared_ptr<Runner> first = make_face(), second = make_face(3);
  std::thread other([&] {
    for (int round = 0; round < 20; ++round) {
      Tensors out = untouched_outputs(*second, 3);
      EXPECT_EQ(by_job(*second, numbered_inputs(*second, 3), out), StatusCode::SUCCESS);
      expect_results(out, 3);
    }
  });
  for (int round = 0; round < 20; ++round) {
    Tensors out = untouched_outputs(*first, 1);
    EXPECT_EQ(by_execute(*first, numbered_inputs(*first, 1), out), StatusCode::SUCCESS);
    expect_results(out, 1);
  }
  other.join();
}

// A tensor is taken by its own type, whatever the options announced.
TEST_P(FaceExecute, TheViewOfATensorCountsNotTheOption) {
  const std::shared_ptr<Runner> runner =
      make_face(1, {{"input_tensor_type", "CPU"}, {"output_tensor_type", "HW"}});
  Tensors out = untouched_outputs(*runner, 1);
  EXPECT_EQ(runner->execute(numbered_inputs(*runner, 1), out), StatusCode::SUCCESS);
  expect_results(out, 1);
}

INSTANTIATE_TEST_SUITE_P(Faces, FaceExecute, ::testing::ValuesIn(every_face()),
                         [](const auto& face) { return name_of(face.param); });

}  // namespace
}  // namespace millrace::vartml
