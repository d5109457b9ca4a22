// Many producers on one session of the null device: no job is lost, none comes twice, ids have no
// gaps, and lanes do the work, or threads that wait do it in their place.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "device/null/null_device.h"
#include "tests/runtime/session_fixture.h"

namespace millrace::runtime {
namespace {

constexpr uint32_t kProducers = 8;
#ifdef MILLRACE_SANITIZED
constexpr uint32_t kJobsPerProducer = 12'500;  // a job takes more than ten times as long there
#else
constexpr uint32_t kJobsPerProducer = 125'000;
#endif
constexpr uint32_t kJobs = kProducers * kJobsPerProducer;
constexpr uint32_t kInFlight = 3;  // uncollected jobs a producer keeps

// The null device, with a record of the threads on which its jobs ran.
class RecordingContext final : public device::Context {
 public:
  RecordingContext(std::unique_ptr<device::Context> context, std::atomic<uint64_t>& runs,
                   std::atomic<std::thread::id>& ran_on)
      : context_(std::move(context)), runs_(runs), ran_on_(ran_on) {}
  Status run(std::span<const device::Binding> inputs, std::span<const device::Binding> outputs,
             queue::RunControl& control) noexcept override {
    runs_.fetch_add(1, std::memory_order_relaxed);
    ran_on_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    return context_->run(inputs, outputs, control);
  }

 private:
  std::unique_ptr<device::Context> context_;
  std::atomic<uint64_t>& runs_;
  std::atomic<std::thread::id>& ran_on_;
};

struct Record {
  std::atomic<uint64_t> runs{0};
  std::atomic<uint32_t> contexts{0};
  std::array<std::atomic<std::thread::id>, 16> ran_on;  // by context
};

class RecordingProgram final : public device::Program {
 public:
  RecordingProgram(std::shared_ptr<const device::Program> program, Record& record)
      : program_(std::move(program)), record_(record) {}
  const graph::CompiledModel& model() const noexcept override { return program_->model(); }
  bool accepts(device::Direction direction, size_t index,
               device::View view) const noexcept override {
    return program_->accepts(direction, index, view);
  }
  Result<std::unique_ptr<device::Context>> create_context() const override {
    const uint32_t number = record_.contexts++;
    return std::unique_ptr<device::Context>(std::make_unique<RecordingContext>(
        program_->create_context().value(), record_.runs, record_.ran_on.at(number)));
  }
  device::ProgramInfo info() const override { return program_->info(); }

 private:
  std::shared_ptr<const device::Program> program_;
  Record& record_;
};

class SessionStress : public ::testing::Test {
 protected:
  std::unique_ptr<Session> make_session(SessionOptions options) {
    const std::shared_ptr<device::Device> device = device::create_null_device({.lanes = 2}).value();
    const auto program = std::make_shared<RecordingProgram>(
        device->load(std::make_shared<graph::CompiledModel>(test::tiny_model())).value(), record_);
    return Session::create(device, program, options).value();
  }

  template <class Produce>
  void run_producers(Produce&& produce) {
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < kProducers; ++i)
      threads.emplace_back([&, i] {
        {
          const std::lock_guard lock(mutex_);
          producers_.insert(std::this_thread::get_id());
        }
        produce(i);
      });
    for (std::thread& thread : threads) thread.join();
  }

  void expect_each_ran_once() {
    EXPECT_EQ(record_.runs, kJobs) << "each job ran once";
    EXPECT_GE(record_.contexts, 1u);
    EXPECT_LE(record_.contexts, 2u) << "one context per lane";
  }

  void expect_work_done_by_lanes() {
    expect_each_ran_once();
    for (uint32_t i = 0; i < record_.contexts; ++i)
      EXPECT_EQ(producers_.count(record_.ran_on[i]), 0u) << "a producer ran a job";
  }

  static void expect_all_ids(std::vector<SessionJobId> ids) {
    std::sort(ids.begin(), ids.end());
    std::vector<SessionJobId> expected(kJobs);
    std::iota(expected.begin(), expected.end(), 1u);
    EXPECT_TRUE(ids == expected) << "ids are 1 to " << kJobs << ", each once";
  }

  Record record_;
  std::mutex mutex_;
  std::set<std::thread::id> producers_;
};

// Submits until there is room; a full session is no failure here.
SessionJobId submit_patiently(Session& session, const JobBindings& bindings,
                              JobCallback callback = {}) {
  for (;;) {
    const Result<SessionJobId> id = session.submit(bindings, callback);
    if (id.ok()) return *id;
    EXPECT_EQ(id.status().code(), StatusCode::kQueueFull);
    std::this_thread::yield();
  }
}

TEST_F(SessionStress, ManyJobsAreEachCollectedOnce) {
  const std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 32});
  std::vector<SessionJobId> ids(kJobs);
  run_producers([&](uint32_t producer) {
    JobMemory memory(session->model());
    SessionJobId* const mine = &ids[producer * kJobsPerProducer];
    const auto collect = [&](uint32_t i) {
      const Status status = session->wait(mine[i], kForever);
      ASSERT_TRUE(status.ok()) << status.to_string();
      ASSERT_EQ(session->wait(mine[i], kPoll).code(), StatusCode::kInvalidJobId);
    };
    for (uint32_t i = 0; i < kJobsPerProducer; ++i) {
      mine[i] = submit_patiently(*session, memory.bindings());
      if (i >= kInFlight) collect(i - kInFlight);
    }
    for (uint32_t i = kJobsPerProducer - kInFlight; i < kJobsPerProducer; ++i) collect(i);
  });
  expect_all_ids(std::move(ids));
  expect_each_ran_once();
}

TEST_F(SessionStress, ManyCallbacksComeOnceAndInOrder) {
  const std::unique_ptr<Session> session = make_session({.max_concurrent_runs = 32});
  std::vector<SessionJobId> called;
  called.reserve(kJobs);
  uint32_t failed = 0;
  std::promise<void> all_called;
  const JobCallback note = [&](SessionJobId id, const Status& status) {
    called.push_back(id);
    failed += !status.ok();
    if (called.size() == kJobs) all_called.set_value();
  };
  run_producers([&](uint32_t) {
    JobMemory memory(session->model());
    for (uint32_t i = 0; i < kJobsPerProducer; ++i)
      submit_patiently(*session, memory.bindings(), note);
  });
  all_called.get_future().get();
  EXPECT_EQ(failed, 0u);
  EXPECT_TRUE(std::is_sorted(called.begin(), called.end())) << "callbacks in order of submission";
  expect_all_ids(std::move(called));
  expect_work_done_by_lanes();
}

// Sessions of five units with one place each, of two units, and of one with five places.
class SessionPlaces : public SessionStress, public ::testing::WithParamInterface<uint32_t> {
 protected:
  static constexpr uint32_t kPlaces = 5;
  static constexpr uint32_t kRounds = 5'000;

  std::unique_ptr<Session> make_session() {
    return SessionStress::make_session({.max_concurrent_runs = kPlaces,
                                        .callback_order = CallbackOrder::kCompletion,
                                        .max_lanes = GetParam()});
  }
};

INSTANTIATE_TEST_SUITE_P(Units, SessionPlaces, ::testing::Values(5u, 2u, 1u));

// Threads that share as many tokens as the session has places are never refused: a place is free
// before the callback of its job runs, whichever unit it is in.
TEST_P(SessionPlaces, AThreadForWhichAPlaceIsFreeIsNeverRefused) {
  const std::unique_ptr<Session> session = make_session();
  std::atomic<uint32_t> tokens{kPlaces}, refused{0};
  const auto take_token = [&] {
    for (uint32_t free = tokens;;) {
      if (free != 0 && tokens.compare_exchange_weak(free, free - 1)) return;
      std::this_thread::yield();
      free = tokens;
    }
  };
  run_producers([&](uint32_t producer) {
    JobMemory memory(session->model());
    for (uint32_t round = 0; round < kRounds; ++round) {
      take_token();
      if (producer == 0) {  // jobs of execute() take places, too
        EXPECT_TRUE(session->execute(memory.bindings()).ok());
        ++tokens;
        continue;
      }
      const Result<SessionJobId> id =
          session->submit(memory.bindings(), [&](SessionJobId, const Status&) { ++tokens; });
      if (id.ok()) continue;
      ++refused;
      ++tokens;
    }
  });
  session->close();
  EXPECT_EQ(refused, 0u);
  EXPECT_EQ(tokens, kPlaces) << "every job has completed";
}

// There are more threads than places, and each of them gets its turn.
TEST_P(SessionPlaces, ExecuteMissesNoPlaceThatBecameFree) {
  const std::unique_ptr<Session> session = make_session();
  std::atomic<uint32_t> failed{0};
  run_producers([&](uint32_t) {
    JobMemory memory(session->model());
    for (uint32_t round = 0; round < kRounds; ++round)
      if (!session->execute(memory.bindings()).ok()) ++failed;
  });
  EXPECT_EQ(failed, 0u);
  EXPECT_EQ(record_.runs, kProducers * kRounds);
}

}  // namespace
}  // namespace millrace::runtime
