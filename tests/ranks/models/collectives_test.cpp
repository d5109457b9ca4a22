// Collectives in a model: what each computes, and what keeps the ranks in step.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <latch>
#include <thread>

#include "compiler/compiler.h"
#include "compiler/export/onnx_writer.h"
#include "graph/archive/codec.h"
#include "model/archive_header.h"
#include "runtime/jobs/run_job.h"
#include "runtime/session.h"
#include "tests/ranks/models/rank_models.h"
#include "tests/runtime/session_fixture.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_run.h"

namespace millrace::test {
namespace {

using graph::Dims;
using ranks::Group;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<Tensor> numbers_of(uint32_t rank, const Dims& dims) {
  return {Tensor::numbers(dims, rank + 1)};
}

// Returns the outputs of one collective on every rank, each with elements of its own.
std::vector<Tensor> outputs_of(const graph::Fallback& op, const Dims& dims, uint32_t ranks) {
  const Group group = ranks::make_group(ranks);
  const Programs programs =
      load_on_ranks(group, [&](uint32_t) { return collective_model(op, dims); });
  return run_on_ranks(group, programs, [&](uint32_t rank) { return numbers_of(rank, dims); });
}

TEST(Collectives, AllReduceAddsWhatAllRanksHave) {
  const Dims dims = {2, 5};
  for (const bool states_size : {false, true}) {
    std::vector<graph::Attribute> attributes;
    if (states_size) attributes.push_back({"group_size", int64_t{3}});
    const auto outputs = outputs_of(collective("AllReduce", attributes), dims, 3);
    Tensor sum = Tensor::zeros(dims);
    for (uint32_t rank = 0; rank < 3; ++rank)
      for (size_t i = 0; i < sum.data.size(); ++i) sum.data[i] += numbers_of(rank, dims)[0].data[i];
    for (const Tensor& output : outputs) {
      EXPECT_EQ(output.data, outputs[0].data);
      device::cpu::expect_close(output, sum, 1e-6);
    }
  }
}

TEST(Collectives, AllGatherJoinsAlongItsAxis) {
  const Dims dims = {2, 3, 4};
  for (const int64_t axis : {0, 1, 2, -1}) {
    const auto op = collective("AllGather", {{"axis", axis}, {"group_size", int64_t{2}}});
    const size_t at = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
    Dims joined = dims;
    joined[at] *= 2;
    Tensor expected = Tensor::zeros(joined);
    device::cpu::for_each_index(joined, [&](const Dims& index) {
      Dims own = index;
      own[at] %= dims[at];
      const auto rank = static_cast<uint32_t>(index[at] / dims[at]);
      expected.at(index) = numbers_of(rank, dims)[0].at(own);
    });
    for (const Tensor& output : outputs_of(op, dims, 2)) {
      EXPECT_EQ(output.dims, joined);
      EXPECT_EQ(output.data, expected.data);
    }
  }
}

TEST(Collectives, AllToAllSendsABlockOfTheFirstDimensionToEachRank) {
  const Dims dims = {4, 3};
  const auto outputs = outputs_of(collective("AllToAll", {{"group_size", int64_t{2}}}), dims, 2);
  for (uint32_t rank = 0; rank < 2; ++rank) {
    Tensor expected = Tensor::zeros(dims);
    device::cpu::for_each_index(dims, [&](const Dims& index) {
      const auto from = static_cast<uint32_t>(index[0] / 2);
      expected.at(index) = numbers_of(from, dims)[0].at({rank * 2 + index[0] % 2, index[1]});
    });
    EXPECT_EQ(outputs[rank].data, expected.data);
  }
}

TEST(Collectives, BroadcastGivesAllRanksWhatTheRootHas) {
  const Dims dims = {6};
  const auto op = collective("Broadcast", {{"root", int64_t{1}}});
  for (const Tensor& output : outputs_of(op, dims, 3))
    EXPECT_EQ(output.data, numbers_of(1, dims)[0].data);
}

TEST(Collectives, OfOneRankCopy) {
  for (const char* type : {"AllReduce", "AllGather", "AllToAll", "Broadcast"}) {
    const auto model = collective_model(collective(type, {{"group_size", int64_t{1}}}), {2, 3});
    auto program = device_of_ranks()->load(model);
    ASSERT_TRUE(program.ok()) << program.status().to_string();
    EXPECT_EQ(device::cpu::run(**program, numbers_of(0, {2, 3}))[0].data,
              numbers_of(0, {2, 3})[0].data);
  }
}

TEST(Collectives, OfSeveralRanksAskForTheirCommunicator) {
  const auto model = collective_model(collective("AllReduce", {}), {2});
  const Status alone = device_of_ranks()->load(model).status();
  EXPECT_EQ(alone.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(alone.message(), HasSubstr("load the model with their communicator"));

  const Group three = ranks::make_group(3);
  const auto of_two = collective_model(
      collective("AllGather", {{"axis", int64_t{0}}, {"group_size", int64_t{2}}}), {2});
  const Status other = device_of_ranks()->load_for_rank(of_two, three[0]).status();
  EXPECT_EQ(other.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(other.message(), HasSubstr("it is for 2 ranks, but the communicator has 3"));

  const auto far_root = collective_model(collective("Broadcast", {{"root", int64_t{3}}}), {2});
  EXPECT_THAT(device_of_ranks()->load_for_rank(far_root, three[0]).status().message(),
              HasSubstr("its root is rank 3"));
}

TEST(Collectives, ExchangeWhatNpuPartitionsOfEachPrecisionMake) {
  for (const graph::Precision precision : {graph::Precision::kFp32, graph::Precision::kBf16}) {
    ModelBuilder builder(precision);
    builder.begin_partition(graph::PartitionKind::kNpu);
    const auto doubled = builder.node(graph::Unary{{graph::UnaryKind::kLinear, 2, 0}},
                                      {builder.input({1, 4, 3, 3})});
    builder.begin_partition(graph::PartitionKind::kCollective);
    const auto sum = builder.fallback(collective("AllReduce", {}), {doubled})[0];
    builder.begin_partition(graph::PartitionKind::kNpu);
    builder.output(builder.node(graph::Unary{{graph::UnaryKind::kRelu, 0, 0}}, {sum}));
    const auto model = builder.build();
    const Group group = ranks::make_group(2);
    const Dims dims = {1, 4, 3, 3};
    const auto outputs = run_on_ranks(group, load_on_ranks(group, [&](uint32_t) { return model; }),
                                      [&](uint32_t rank) { return numbers_of(rank, dims); });
    Tensor expected = Tensor::zeros(dims);
    for (size_t i = 0; i < expected.data.size(); ++i) {
      const float both = numbers_of(0, dims)[0].data[i] + numbers_of(1, dims)[0].data[i];
      expected.data[i] = std::max(0.0f, 2 * both);
    }
    for (const Tensor& output : outputs)
      device::cpu::expect_close(output, expected, device::cpu::tolerance_of(precision));
  }
}

// The result of a collective is not known when the model is compiled, even if the input is
// constant.
TEST(Collectives, OfConstantsStayInTheModel) {
  ModelBuilder builder;
  const auto sum =
      builder.fallback(collective("AllReduce", {}), {builder.constant(Tensor::numbers({3}, 5))})[0];
  builder.output(builder.node(graph::Binary{}, {sum, builder.input({3})}));
  const TemporaryDirectory directory;
  ASSERT_TRUE(compiler::write_onnx(builder.build()->graph, directory.file("model.onnx")).ok());
  const auto model = compiler::compile(directory.file("model.onnx"), {});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  ASSERT_THAT(model->partitions, SizeIs(2));
  EXPECT_EQ(model->partitions[0].kind, graph::PartitionKind::kCollective);
}

TEST(Collectives, AreAPartitionOfTheirOwnInTheArchive) {
  auto model = *collective_model(collective("AllReduce", {}), {2});
  const model::ArchiveContent content = graph::encode(model);
  EXPECT_EQ(content.version, model::kCollectiveFormatVersion);

  model.partitions[0].kind = graph::PartitionKind::kCpu;
  model.inputs[0].hw.reset();
  model.outputs[0].hw.reset();
  EXPECT_EQ(graph::encode(model).version, model::kGraphFormatVersion);
}

// The sum of what all ranks have as first input, and beside it the exponent of the second one,
// which does not depend on it; then the sum of both.
std::shared_ptr<const graph::CompiledModel> model_with_a_branch() {
  ModelBuilder builder;
  const auto shared = builder.input({1, 6}), own = builder.input({1, 6});
  builder.begin_partition(graph::PartitionKind::kNpu);
  const auto doubled = builder.node(graph::Unary{{graph::UnaryKind::kLinear, 2, 0}}, {shared});
  builder.begin_partition(graph::PartitionKind::kCollective);
  const auto sum = builder.fallback(collective("AllReduce", {}), {doubled})[0];
  builder.begin_partition(graph::PartitionKind::kNpu);
  const auto beside = builder.node(graph::Unary{{graph::UnaryKind::kExp, 0, 0}}, {own});
  builder.output(builder.node(graph::Binary{graph::BinaryKind::kAdd}, {sum, beside}));
  return builder.build();
}

// Wakes another thread when a step begins.
class StepSignal final : public queue::ProgressObserver {
 public:
  explicit StepSignal(uint32_t step) : step_(step) {}
  void on_progress(const queue::RunControl& control) noexcept override {
    if (control.position().step == step_) release();
  }
  void release() noexcept {
    if (!seen_.exchange(true)) begun_.count_down();
  }
  void wait() { begun_.wait(); }

 private:
  const uint32_t step_;
  std::atomic<bool> seen_{false};
  std::latch begun_{1};
};

class ABranchBesideACollective : public ::testing::Test {
 protected:
  Status run(uint32_t rank, queue::RunControl& control) {
    std::vector<device::Binding> in;
    for (Tensor& tensor : inputs_[rank]) in.push_back({tensor.data.data(), device::View::kCpu});
    const device::Binding out{outputs_[rank].data.data(), device::View::kCpu};
    return programs_[rank]->create_context().value()->run(in, {&out, 1}, control);
  }
  // Returns the index of the step of the branch.
  uint32_t step_beside() const {
    const auto steps = programs_[0]->info().steps;
    const auto collective =
        std::ranges::find(steps, "millrace:collective", &device::StepInfo::implementation);
    return static_cast<uint32_t>(collective - steps.begin()) + 1;
  }

  const Dims dims_ = {1, 6};
  const Group group_ = ranks::make_group(2);
  const Programs programs_ = load_on_ranks(group_, [](uint32_t) { return model_with_a_branch(); });
  std::vector<std::vector<Tensor>> inputs_ = {
      {Tensor::numbers(dims_, 1), Tensor::numbers(dims_, 2)},
      {Tensor::numbers(dims_, 3), Tensor::numbers(dims_, 4)}};
  std::vector<Tensor> outputs_ = {Tensor::zeros(dims_), Tensor::zeros(dims_)};
};

// The other rank begins its job only once the branch has begun here. If the branch waited for the
// collective, neither would end.
TEST_F(ABranchBesideACollective, RunsWhileItIsWaitedFor) {
  StepSignal signal(step_beside());
  std::thread other([&] {
    signal.wait();
    TestRun control;
    EXPECT_TRUE(run(1, control).ok());
  });
  TestRun control;
  {
    const queue::ObserverScope observed(control, signal);
    const Status status = run(0, control);
    EXPECT_TRUE(status.ok()) << status.to_string();
    signal.release();
  }
  other.join();
  for (uint32_t rank = 0; rank < 2; ++rank) {
    Tensor expected = Tensor::zeros(dims_);
    for (size_t i = 0; i < expected.data.size(); ++i)
      expected.data[i] =
          2 * (inputs_[0][0].data[i] + inputs_[1][0].data[i]) + std::exp(inputs_[rank][1].data[i]);
    device::cpu::expect_close(outputs_[rank], expected, 1e-5);
  }
}

TEST_F(ABranchBesideACollective, DoesNotKeepAJobFromBeingStopped) {
  TestRun control(std::chrono::steady_clock::now() + std::chrono::milliseconds(50));
  EXPECT_EQ(run(0, control).code(), StatusCode::kDeadlineExceeded);
}

// A job that stops while it waits for a rank that does not come. That rank may find what this one
// has sent already, but its next job fails.
TEST(Collectives, AJobThatStopsEndsThoseOfTheOtherRanks) {
  const Group group = ranks::make_group(2);
  const Programs programs = load_on_ranks(
      group, [](uint32_t) { return collective_model(collective("AllReduce", {}), {2}); });
  const auto run = [&](uint32_t rank, Deadline deadline) {
    std::vector<float> in(2), out(2);
    const device::Binding input{in.data(), device::View::kCpu};
    const device::Binding output{out.data(), device::View::kCpu};
    TestRun control(deadline);
    return programs[rank]->create_context().value()->run({&input, 1}, {&output, 1}, control);
  };
  const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  EXPECT_EQ(run(0, soon).code(), StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(run(0, kNoDeadline).ok());
  static_cast<void>(run(1, kNoDeadline));
  EXPECT_FALSE(run(1, kNoDeadline).ok());
}

// Jobs of a session: each rank submits its own, and they meet in the order of submission.
class RankSession : public ::testing::Test {
 protected:
  RankSession() : group_(ranks::make_group(2)) {
    const Programs programs = load_on_ranks(
        group_, [](uint32_t) { return collective_model(collective("AllReduce", {}), {1}); });
    for (const auto& program : programs)
      sessions_.push_back(
          runtime::Session::create(device_of_ranks(), program, {.max_concurrent_runs = 8}).value());
  }

  Group group_;
  std::vector<std::unique_ptr<runtime::Session>> sessions_;
};

TEST_F(RankSession, MeetInTheOrderOfSubmission) {
  constexpr int kJobs = 8;
  std::vector<std::vector<runtime::JobMemory>> memory(2);
  std::vector<std::vector<runtime::SessionJobId>> ids(2);
  for (size_t rank = 0; rank < 2; ++rank) {
    for (int job = 0; job < kJobs; ++job) {
      memory[rank].emplace_back(sessions_[rank]->model(), 1, device::View::kCpu);
      *memory[rank].back().input<float>() = static_cast<float>(job * 10 + 1);
      ids[rank].push_back(sessions_[rank]->submit(memory[rank].back().bindings()).value());
    }
  }
  for (size_t rank = 0; rank < 2; ++rank)
    for (int job = 0; job < kJobs; ++job) {
      const size_t at = static_cast<size_t>(job);
      EXPECT_TRUE(sessions_[rank]->wait(ids[rank][at], std::chrono::seconds(60)).ok());
      EXPECT_EQ(*memory[rank][at].output<float>(), static_cast<float>(2 * (job * 10 + 1)));
    }
}

// A job that is removed from the queue does not affect those before it.
TEST(Collectives, JobsBeforeOneThatDidNotRunAreNotConcerned) {
  const Group group = ranks::make_group(2);
  const Programs programs = load_on_ranks(
      group, [](uint32_t) { return collective_model(collective("AllReduce", {}), {1}); });
  ranks::on_each_rank(group, [&](ranks::Communicator& communicator) {
    const auto executor =
        runtime::Executor::of(device_of_ranks(), programs[communicator.rank()]).value();
    runtime::JobMemory memory(executor->model(), 1, device::View::kCpu);
    const auto run = [&](queue::SequenceId job) {
      TestRun control;
      control.begin(job, 0, kNoDeadline);
      BoundaryConversions conversions;
      return runtime::run_job(*executor, memory.bindings(), {}, control, conversions);
    };
    executor->skip_job(3);
    EXPECT_TRUE(run(1).ok());
    EXPECT_TRUE(run(2).ok());
    EXPECT_FALSE(run(4).ok());
  });
}

// Jobs of two sessions have no order among each other.
TEST(Collectives, AJobOfAnotherUnitIsBehindOneThatDidNotRun) {
  const Group group = ranks::make_group(2);
  const Programs programs = load_on_ranks(
      group, [](uint32_t) { return collective_model(collective("AllReduce", {}), {1}); });
  ranks::on_each_rank(group, [&](ranks::Communicator& communicator) {
    const auto& program = programs[communicator.rank()];
    const auto run = [&](runtime::Executor& executor, queue::SequenceId job) {
      const runtime::JobMemory memory(executor.model(), 1, device::View::kCpu);
      TestRun control;
      control.begin(job, 0, kNoDeadline);
      BoundaryConversions conversions;
      return runtime::run_job(executor, memory.bindings(), {}, control, conversions);
    };
    const auto executor = runtime::Executor::of(device_of_ranks(), program).value();
    executor->skip_job(queue::sequence_of(5, 1));
    EXPECT_FALSE(run(*executor, queue::sequence_of(3, 9)).ok());
  });
}

// The executor ends with the last session, but the program still is a job behind the other ranks.
TEST(Collectives, AJobThatDidNotRunIsRememberedByTheProgram) {
  const Group group = ranks::make_group(2);
  const Programs programs = load_on_ranks(
      group, [](uint32_t) { return collective_model(collective("AllReduce", {}), {1}); });
  ranks::on_each_rank(group, [&](ranks::Communicator& communicator) {
    const auto& program = programs[communicator.rank()];
    runtime::Executor::of(device_of_ranks(), program).value()->skip_job(3);
    const auto session = runtime::Session::create(device_of_ranks(), program).value();
    const runtime::JobMemory memory(program->model(), 1, device::View::kCpu);
    EXPECT_FALSE(session->execute(memory.bindings()).ok());
  });
}

// If it did not fail, the next job of this rank would meet an earlier one of the other rank.
TEST(Collectives, AfterAJobThatDidNotRunTheNextOneFailsOnEveryRank) {
  const Group group = ranks::make_group(2);
  const Programs programs = load_on_ranks(
      group, [](uint32_t) { return collective_model(collective("AllReduce", {}), {2}); });
  programs[0]->skip_job();
  std::vector<Status> statuses(2);
  ranks::on_each_rank(group, [&](ranks::Communicator& communicator) {
    std::vector<float> in(2), out(2);
    const device::Binding input{in.data(), device::View::kCpu};
    const device::Binding output{out.data(), device::View::kCpu};
    TestRun control;
    const uint32_t rank = communicator.rank();
    statuses[rank] =
        programs[rank]->create_context().value()->run({&input, 1}, {&output, 1}, control);
  });
  EXPECT_THAT(statuses[0].message(), HasSubstr("a job did not run on this rank"));
  EXPECT_FALSE(statuses[1].ok());
}

}  // namespace
}  // namespace millrace::test
