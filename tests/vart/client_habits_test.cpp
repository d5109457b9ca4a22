// The habits of large client programs: only the public headers, the language of C++17, and the
// shapes that such programs have.
#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <thread>

#include "tests/vart/face_fixture.h"

namespace millrace::vartml {
namespace {

const std::unordered_map<StatusCode, std::string> kStatusNames = {
    {StatusCode::SUCCESS, "SUCCESS"},
    {StatusCode::FAILURE, "FAILURE"},
    {StatusCode::INVALID_INPUT, "INVALID_INPUT"},
    {StatusCode::INVALID_OUTPUT, "INVALID_OUTPUT"},
    {StatusCode::OUT_OF_MEMORY, "OUT_OF_MEMORY"},
    {StatusCode::RUNTIME_ERROR, "RUNTIME_ERROR"},
    {StatusCode::JOB_PENDING, "JOB_PENDING"},
    {StatusCode::INVALID_JOB_ID, "INVALID_JOB_ID"},
    {StatusCode::RESOURCE_UNAVAILABLE, "RESOURCE_UNAVAILABLE"}};

// One set of tensors that a program keeps for a job in flight.
struct Slot {
  Tensors inputs, outputs;
  JobHandle job;
};

class ClientHabits : public FaceTest {
 protected:
  // Submits as a program does that knows no other way to wait for a free slot.
  static JobHandle submit_patiently(Runner& runner, Slot& slot) {
    for (;;) {
      const JobHandle job = runner.execute_async(slot.inputs, slot.outputs);
      if (job.status != StatusCode::RESOURCE_UNAVAILABLE) {
        EXPECT_EQ(kStatusNames.at(job.status), "SUCCESS");
        return job;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
};

// Two slots kept full from a deque of handles; the tensors are declared before the runner and so
// outlive it.
TEST_P(ClientHabits, TwoSlotsInFlightAndPoolsThatOutliveTheRunner) {
  constexpr size_t kIterations = 30, kBatch = 2;
  std::vector<Slot> slots(2);
  {
    const std::shared_ptr<Runner> runner = make_face(kBatch);
    std::deque<size_t> in_flight;
    for (size_t i = 0; i < kIterations + slots.size(); ++i) {
      if (in_flight.size() == slots.size() || i >= kIterations) {
        const size_t oldest = in_flight.front();
        in_flight.pop_front();
        ASSERT_EQ(runner->wait(slots[oldest].job, std::chrono::milliseconds(30000)),
                  StatusCode::SUCCESS);
        expect_results(slots[oldest].outputs, kBatch);
      }
      if (i >= kIterations) continue;
      Slot& slot = slots[i % slots.size()];
      slot.inputs = numbered_inputs(*runner, kBatch);
      slot.outputs = untouched_outputs(*runner, kBatch);
      slot.job = submit_patiently(*runner, slot);
      in_flight.push_back(i % slots.size());
    }
  }
  for (Slot& slot : slots) expect_results(slot.outputs, kBatch);
}

// Default-constructed slots that grow, move and are assigned over while jobs are in flight.
TEST_P(ClientHabits, TablesOfTensorsMoveAndGrowWhileJobsRun) {
  const std::shared_ptr<Runner> runner = make_face(1, {{"max_concurrent_runs", 64u}});
  std::vector<Slot> slots;
  std::map<std::string, std::list<NpuTensor>> by_name;
  for (size_t i = 0; i < 40; ++i) {
    slots.emplace_back();
    Slot made;
    made.inputs.resize(1);
    made.outputs.resize(1);
    const Tensors inputs = numbered_inputs(*runner, 1);
    for (const NpuTensor& tensor : inputs[0]) {
      by_name[tensor.get_info().name].push_back(tensor);
      made.inputs[0].push_back(tensor);
    }
    made.outputs[0].emplace_back();
    made.outputs[0][0] = std::move(untouched_outputs(*runner, 1)[0][0]);
    made.job = runner->execute_async(made.inputs, made.outputs);
    ASSERT_EQ(made.job.status, StatusCode::SUCCESS);
    slots.back() = std::move(made);
    if (i % 8 == 7) by_name.clear();
  }
  while (!slots.empty()) {
    std::swap(slots.front(), slots.back());
    ASSERT_EQ(runner->wait(slots.back().job, kForever), StatusCode::SUCCESS);
    expect_results(slots.back().outputs, 1);
    slots.pop_back();
  }
}

TEST_P(ClientHabits, DescriptionsAreKeptByReferenceForTheRunnersLife) {
  const std::shared_ptr<Runner> runner = make_face();
  const auto& infos = runner->get_tensors_info(TensorDirection::OUTPUT, GetParam().output);
  const ::vart::QuantParameters& quantisation = runner->get_quant_parameters(infos[0].name);
  const std::vector<NpuTensorInfo> copy = infos;
  for (int i = 0; i < 100; ++i) {
    Tensors out = untouched_outputs(*runner, 1);
    ASSERT_EQ(runner->execute(numbered_inputs(*runner, 1), out), StatusCode::SUCCESS);
    ASSERT_EQ(out[0][0].get_info().name, infos[0].name);
  }
  EXPECT_EQ(infos[0].shape, copy[0].shape);
  EXPECT_EQ(infos[0].size_in_bytes, copy[0].size_in_bytes);
  EXPECT_EQ(static_cast<float>(quantisation.scale), 1.0f);
}

// Heap memory under the CMA tag, full-size tables for the last, partial batch.
TEST_P(ClientHabits, HeapMemoryIsTaggedAsContiguousAndTheLastBatchIsPartial) {
  constexpr size_t kBatch = 3;
  const std::shared_ptr<Runner> runner = make_face(kBatch);
  const Tensors in = numbered_inputs(*runner, 2);
  std::vector<std::unique_ptr<void, decltype(&std::free)>> memory;
  Tensors out(kBatch);
  for (std::vector<NpuTensor>& frame : out)
    for (const NpuTensorInfo& info :
         runner->get_tensors_info(TensorDirection::OUTPUT, GetParam().output)) {
      memory.emplace_back(std::malloc(info.size_in_bytes), &std::free);
      std::memset(memory.back().get(), kUntouched, info.size_in_bytes);
      frame.emplace_back(info, memory.back().get(), MemoryType::USER_POINTER_CMA);
    }
  ASSERT_EQ(runner->execute(in, out), StatusCode::SUCCESS);
  expect_results(out, 2);
}

// Tensors over descriptors that a loop holds in one int, of buffers whose owners go first.
TEST_P(ClientHabits, DescriptorsComeFromALoopLocalInt) {
  constexpr size_t kBatch = 3;
  const std::shared_ptr<Runner> runner = make_face(kBatch);
  Tensors in(kBatch), out = untouched_outputs(*runner, kBatch);
  {
    const Tensors owners = numbered_inputs(*runner, kBatch);
    for (size_t frame = 0; frame < kBatch; ++frame) {
      int fd = owners[frame][0].export_buffer();
      ASSERT_GE(fd, 0);
      in[frame].emplace_back(owners[frame][0].get_info(), &fd, MemoryType::DMA_FD);
      close(fd);
    }
  }
  ASSERT_EQ(runner->execute(in, out), StatusCode::SUCCESS);
  expect_results(out, kBatch);
}

TEST_P(ClientHabits, OneThreadPerRunner) {
  std::vector<std::thread> tenants;
  const std::string path = model({.batch_size = 2});
  for (int tenant = 0; tenant < 3; ++tenant)
    tenants.emplace_back([&path] {
      const std::shared_ptr<Runner> runner = RunnerFactory::create_runner(
          RunnerType::VAIML, path, {{"aie_columns_sharing", true}, {"debug", false}});
      const Tensors in = numbered_inputs(*runner, 2);
      for (int run = 0; run < 20; ++run) {
        Tensors out = untouched_outputs(*runner, 2);
        EXPECT_EQ(runner->execute(in, out), StatusCode::SUCCESS);
        expect_results(out, 2);
      }
    });
  for (std::thread& tenant : tenants) tenant.join();
}

// A stage that is fed by callbacks through a queue of its own, as pipelines are.
TEST_P(ClientHabits, CallbacksFeedTheNextStage) {
  constexpr size_t kFrames = 50, kSlots = 2;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<JobHandle> finished;
  std::vector<Slot> slots(kSlots);
  std::shared_ptr<Runner> runner = make_face();
  for (Slot& slot : slots) {
    slot.inputs = numbered_inputs(*runner, 1);
    slot.outputs = untouched_outputs(*runner, 1);
  }
  const auto submit = [&](Slot& slot) {
    slot.job = runner->execute_async(slot.inputs, slot.outputs, [&](const JobHandle& done) {
      const std::lock_guard<std::mutex> lock(mutex);
      finished.push_back(done);
      changed.notify_one();
    });
    EXPECT_EQ(slot.job.status, StatusCode::SUCCESS);
  };
  for (Slot& slot : slots) submit(slot);
  for (size_t frame = 0; frame < kFrames; ++frame) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return !finished.empty(); });
    const JobHandle done = finished.front();
    finished.pop_front();
    lock.unlock();
    Slot& slot = slots[frame % kSlots];
    ASSERT_EQ(done.job_id, slot.job.job_id) << "in the order of submission";
    ASSERT_EQ(done.status, StatusCode::SUCCESS);
    expect_results(slot.outputs, 1);
    if (frame + kSlots < kFrames) submit(slot);
  }
  runner.reset();
}

INSTANTIATE_TEST_SUITE_P(Faces, ClientHabits, ::testing::ValuesIn(every_face()),
                         [](const auto& face) { return name_of(face.param); });

}  // namespace
}  // namespace millrace::vartml
