// The faulty device: every kind of fault, alone and together, and the device in front of another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/hooks.h"
#include "base/names.h"
#include "device/faulty/faulty_device.h"
#include "device/null/null_device.h"
#include "device/registry.h"
#include "tests/support/gated_device.h"
#include "tests/support/pattern_device.h"
#include "tests/support/test_run.h"
#include "tests/support/tiny_model.h"

namespace millrace::device {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// One frame of the tiny model on a context, and on a thread, of its own.
class RunningFrame {
 public:
  explicit RunningFrame(const Program& program, Deadline deadline = kNoDeadline)
      : control_(deadline),
        context_(program.create_context().value()),
        input_(program.model().inputs[0].hw->bytes(), std::byte{4}),
        output_(program.model().outputs[0].hw->bytes()) {
    std::packaged_task<Status()> run([this] {
      const Binding inputs[] = {{input_.data(), View::kHw}};
      const Binding outputs[] = {{output_.data(), View::kHw}};
      return context_->run(inputs, outputs, control_);
    });
    status_ = run.get_future();
    thread_ = std::thread(std::move(run));
  }
  ~RunningFrame() { thread_.join(); }

  void stop() { control_.stop(); }
  bool is_done() const { return status_.wait_for(nanoseconds(0)) == std::future_status::ready; }
  // Blocks until the frame is done; once.
  Status wait() { return status_.get(); }
  // Requirement: the frame is done.
  bool has_run() const { return std::ranges::count(output_, std::byte{5}) != 0; }

 private:
  test::TestRun control_;
  const std::unique_ptr<Context> context_;
  std::vector<std::byte> input_, output_;
  std::future<Status> status_;
  std::thread thread_;
};

class Faulty : public ::testing::Test {
 protected:
  Faulty() { faults_.release(); }

  StatusCode run() { return RunningFrame(*program_).wait().code(); }
  std::vector<StatusCode> run(size_t frames) {
    std::vector<StatusCode> codes(frames);
    std::ranges::generate(codes, [this] { return run(); });
    return codes;
  }

  const test::GatedDevice gated_ = test::make_gated_device();
  FaultPlan& faults_ = *gated_.faults;
  const std::shared_ptr<const Program> program_ =
      gated_.device->load(std::make_shared<graph::CompiledModel>(test::tiny_model())).value();
};

constexpr StatusCode kOk = StatusCode::kOk;
constexpr StatusCode kFailed = StatusCode::kDeviceFailed;

TEST_F(Faulty, WithoutFaultsFramesRunAsOnTheDeviceBehindIt) {
  RunningFrame frame(*program_);
  EXPECT_TRUE(frame.wait().ok());
  EXPECT_TRUE(frame.has_run());
  EXPECT_EQ(faults_.arrivals(), 1u);
  EXPECT_EQ(faults_.counts().total(), 0u);
}

TEST_F(Faulty, HeldFramesPassInTheOrderOfTheirArrival) {
  faults_.hold();
  RunningFrame first(*program_);
  faults_.await_arrivals(1);
  RunningFrame second(*program_);
  faults_.await_arrivals(2);
  RunningFrame third(*program_);
  faults_.await_arrivals(3);
  faults_.let_through(1);
  EXPECT_TRUE(first.wait().ok());
  EXPECT_FALSE(second.is_done());
  faults_.let_through(1);
  EXPECT_TRUE(second.wait().ok());
  EXPECT_FALSE(third.is_done());
  faults_.release();
  EXPECT_TRUE(third.wait().ok());
  EXPECT_EQ(faults_.most_at_once(), 3u);
  EXPECT_EQ(faults_.counts().holds, 3u);
}

// A faulty device over the null device, with a model of three partitions.
class FaultyPartitions : public ::testing::Test {
 protected:
  FaultyDevice device_{create_null_device({.lanes = 1}).value()};
  FaultPlan& faults_ = *device_.faults();
  const std::shared_ptr<const Program> program_ =
      device_
          .load(std::make_shared<graph::CompiledModel>(test::tiny_model({.cpu_partition = true})))
          .value();
};

TEST_F(FaultyPartitions, TheGateMayStandBeforeAPartition) {
  faults_.hold_at(1);
  RunningFrame first(*program_), second(*program_);
  faults_.await_holds(2);
  EXPECT_EQ(faults_.arrivals(), 2u);
  EXPECT_FALSE(first.is_done() || second.is_done());
  faults_.release();
  EXPECT_TRUE(first.wait().ok());
  EXPECT_TRUE(second.wait().ok());
}

TEST_F(FaultyPartitions, FramesPassTheGateBeforeAPartitionOnlyOnce) {
  faults_.hold_at(0);
  faults_.let_through(1);
  EXPECT_TRUE(RunningFrame(*program_).wait().ok());
  EXPECT_EQ(faults_.counts().holds, 0u);
}

TEST_F(FaultyPartitions, AFrameHeldBeforeAPartitionGivesUpWhenAskedToStop) {
  faults_.hold_at(1);
  RunningFrame frame(*program_);
  faults_.await_holds(1);
  frame.stop();
  EXPECT_EQ(frame.wait().code(), StatusCode::kCancelled);
}

TEST_F(Faulty, FramesMayBeLetThroughBeforeTheyArrive) {
  faults_.let_through(5);  // the gate is not held
  faults_.hold();
  faults_.let_through(2);
  EXPECT_THAT(run(2), Each(kOk));
  RunningFrame third(*program_);
  faults_.await_arrivals(3);
  EXPECT_FALSE(third.is_done());
  faults_.release();
  EXPECT_TRUE(third.wait().ok());
  EXPECT_EQ(faults_.counts().holds, 1u);
  EXPECT_EQ(faults_.most_at_once(), 1u);
}

TEST_F(Faulty, AReleasedFramePassesThoughTheGateIsHeldAgain) {
  faults_.hold();
  RunningFrame frame(*program_);
  faults_.await_arrivals(1);
  faults_.release();
  faults_.hold();
  EXPECT_TRUE(frame.wait().ok());
}

TEST_F(Faulty, AHeldFrameStopsWhenAsked) {
  faults_.hold();
  RunningFrame first(*program_);
  faults_.await_arrivals(1);
  RunningFrame second(*program_);
  faults_.await_arrivals(2);
  RunningFrame third(*program_);
  faults_.await_arrivals(3);
  second.stop();
  EXPECT_EQ(second.wait().code(), StatusCode::kCancelled);
  EXPECT_FALSE(second.has_run());
  first.stop();
  EXPECT_EQ(first.wait().code(), StatusCode::kCancelled);
  faults_.let_through(1);
  EXPECT_TRUE(third.wait().ok()) << "its turn has come";
}

TEST_F(Faulty, AHeldFrameStopsAtItsDeadline) {
  faults_.hold();
  RunningFrame frame(*program_, std::chrono::steady_clock::now() + milliseconds(2));
  EXPECT_EQ(frame.wait().code(), StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(frame.has_run());
}

TEST_F(Faulty, TheNthFrameFails) {
  ASSERT_EQ(run(), kOk);
  faults_.fail_nth(3, internal_error("the mill stopped"));
  faults_.fail_nth(1);
  EXPECT_THAT(run(5), ElementsAre(kFailed, kOk, StatusCode::kInternal, kOk, kOk));
  EXPECT_EQ(faults_.counts().failures, 2u);
}

TEST_F(Faulty, AFailedFrameDoesNotRunAndSaysWhy) {
  faults_.fail_nth(1, internal_error("the mill stopped"));
  RunningFrame frame(*program_);
  EXPECT_EQ(frame.wait().message(), "the mill stopped");
  EXPECT_FALSE(frame.has_run());
}

TEST_F(Faulty, EveryNthFrameFails) {
  ASSERT_EQ(run(), kOk);
  faults_.fail_every(2, internal_error("the mill stopped"));
  faults_.fail_nth(4);
  EXPECT_THAT(run(5), ElementsAre(kOk, StatusCode::kInternal, kOk, kFailed, kOk));
}

// Jobs with these numbers arrive in this order, each with one frame: what they end with.
std::vector<StatusCode> arrive(FaultPlan& plan, const std::vector<uint64_t>& numbers) {
  std::vector<StatusCode> codes;
  for (const uint64_t number : numbers) {
    codes.push_back(plan.enter(test::TestRun(kNoDeadline, number)).code());
    plan.leave();
  }
  return codes;
}

TEST(FaultNumbers, AreThoseOfAcceptanceWhateverArrivesFirst) {
  FaultPlan plan;
  plan.fail_nth(1);
  EXPECT_THAT(arrive(plan, {2, 1, 3}), ElementsAre(kOk, kFailed, kOk));
}

TEST(FaultNumbers, OfJobsThatNeverArriveAreUsedUp) {
  FaultPlan plan;
  plan.fail_nth(2);
  plan.fail_every(4, internal_error("the mill stopped"));
  EXPECT_THAT(arrive(plan, {1, 3, 5, 8}), ElementsAre(kOk, kOk, kOk, StatusCode::kInternal));
}

TEST(FaultNumbers, CountFromTheNextJobToBeAccepted) {
  FaultPlan plan;
  {
    const queue::AcceptanceOrder::Lock in_order = plan.order()->lock();
    for (int i = 0; i < 5; ++i) plan.order()->accept();
  }
  plan.fail_nth(1);
  plan.fail_every(2, internal_error("the mill stopped"));
  EXPECT_THAT(arrive(plan, {3, 7, 6, 5}), ElementsAre(kOk, StatusCode::kInternal, kFailed, kOk));
}

TEST(FaultNumbers, AFailureMayStrikeALaterFrameOfAJob) {
  FaultPlan plan;
  plan.fail_nth(1, injected_failure(), 2);
  test::TestRun job(kNoDeadline, 1);
  std::vector<StatusCode> codes;
  for (uint32_t frame = 0; frame < 4; ++frame) {
    job.begin_frame(frame);
    codes.push_back(plan.enter(job).code());
    plan.leave();
  }
  EXPECT_THAT(codes, ElementsAre(kOk, kOk, kFailed, kOk));
}

TEST_F(Faulty, AllFramesFailUntilHealed) {
  faults_.fail_all();
  faults_.fail_nth(4);
  EXPECT_THAT(run(3), Each(kFailed));
  faults_.heal();
  EXPECT_THAT(run(3), Each(kOk));
}

TEST_F(Faulty, AHungFrameIgnoresStopRequestsUntilTheHangsEnd) {
  faults_.hang_nth(1);
  RunningFrame hung(*program_);
  faults_.await_hangs(1);
  hung.stop();
  // Another frame that is asked at the same time does stop.
  faults_.hold();
  RunningFrame held(*program_);
  faults_.await_arrivals(2);
  held.stop();
  EXPECT_EQ(held.wait().code(), StatusCode::kCancelled);
  EXPECT_FALSE(hung.is_done());
  faults_.release();
  EXPECT_FALSE(hung.is_done());
  faults_.end_hangs();
  EXPECT_EQ(hung.wait().code(), StatusCode::kCancelled) << "the device behind it sees the request";
}

TEST_F(Faulty, AHungFrameRunsLate) {
  faults_.hang_nth(2);
  ASSERT_EQ(run(), kOk);
  RunningFrame hung(*program_);
  faults_.await_hangs(1);
  EXPECT_EQ(run(), kOk) << "only the one hangs";
  faults_.end_hangs();
  EXPECT_TRUE(hung.wait().ok());
  EXPECT_TRUE(hung.has_run());
  EXPECT_EQ(faults_.counts().hangs, 1u);
}

TEST_F(Faulty, AHangMayEndByItself) {
  faults_.hang_nth(1, milliseconds(2));
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(run(), kOk);
  EXPECT_GE(std::chrono::steady_clock::now() - before, milliseconds(2));
}

TEST_F(Faulty, EndingHangsCoversFramesThatHaveNotComeToIt) {
  faults_.hold();
  faults_.hang_nth(1);
  RunningFrame frame(*program_);
  faults_.await_arrivals(1);
  faults_.end_hangs();
  faults_.release();
  EXPECT_TRUE(frame.wait().ok());
}

TEST_F(Faulty, SlowFramesTakeLonger) {
  faults_.slow(milliseconds(3));
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(run(), kOk);
  EXPECT_GE(std::chrono::steady_clock::now() - before, milliseconds(3));
  EXPECT_EQ(faults_.counts().slows, 1u);
  faults_.slow(nanoseconds(0));
  EXPECT_EQ(run(), kOk);
  EXPECT_EQ(faults_.counts().slows, 1u);
}

TEST_F(Faulty, ASlowFrameStopsWhenAsked) {
  faults_.slow(hours(24));
  RunningFrame frame(*program_);
  faults_.await_arrivals(1);
  frame.stop();
  EXPECT_EQ(frame.wait().code(), StatusCode::kCancelled);
}

TEST_F(Faulty, FaultsAddUp) {
  faults_.hold();
  faults_.slow(milliseconds(1));
  faults_.hang_nth(1);
  faults_.fail_nth(1);
  RunningFrame frame(*program_);
  faults_.await_arrivals(1);
  faults_.release();
  faults_.await_hangs(1);
  faults_.end_hangs();
  EXPECT_EQ(frame.wait().code(), kFailed);
  const FaultCounts counts = faults_.counts();
  EXPECT_THAT((std::vector{counts.holds, counts.slows, counts.hangs, counts.failures}), Each(1u));
}

TEST_F(Faulty, EveryFaultIsEmittedWithItsNumberAndKind) {
  using Fault = std::pair<uint64_t, std::string>;
  std::vector<Fault> faults;
  const HookFunction note = [](void* observer, const HookEvent& event) noexcept {
    if (event.point == HookPoint::kInjected)
      static_cast<std::vector<Fault>*>(observer)->emplace_back(number_in(event.detail),
                                                               name_with(name_in(event.detail)));
  };
  ASSERT_TRUE(add_hook(note, &faults));
  faults_.slow(nanoseconds(1));
  EXPECT_EQ(run(), kOk);
  faults_.slow(nanoseconds(0));
  faults_.hang_nth(1, nanoseconds(1));
  faults_.fail_nth(1);
  EXPECT_THAT(run(2), ElementsAre(kFailed, kOk));
  remove_hook(note, &faults);
  EXPECT_THAT(faults, ElementsAre(Fault(1, "slow"), Fault(2, "hang"), Fault(3, "fail")));
}

// Runs frames on a fresh plan with these random faults, and returns which of them failed.
std::vector<bool> failures(uint64_t seed, const FaultRates& rates, FaultCounts& counts) {
  FaultPlan plan;
  plan.randomize(seed, rates);
  std::vector<bool> failed(1000);
  const test::TestRun control;
  for (size_t i = 0; i < failed.size(); ++i) {
    failed[i] = !plan.enter(control).ok();
    plan.leave();
  }
  counts = plan.counts();
  return failed;
}

constexpr nanoseconds kShort{1};

TEST(RandomFaults, AreReproducibleFromTheSeed) {
  FaultRates rates;
  rates.fail = 0.25;
  FaultCounts counts, again;
  const std::vector<bool> expected = failures(42, rates, counts);
  EXPECT_EQ(failures(42, rates, again), expected);
  EXPECT_NE(failures(43, rates, again), expected);
  EXPECT_EQ(counts.failures, static_cast<uint64_t>(std::ranges::count(expected, true)));
  EXPECT_GT(counts.failures, 150u);
  EXPECT_LT(counts.failures, 350u);
}

TEST(RandomFaults, OfOneKindDoNotDependOnTheOthers) {
  FaultRates rates;
  rates.fail = 0.25;
  FaultCounts counts;
  const std::vector<bool> expected = failures(42, rates, counts);
  rates.hang = rates.slow = 0.1;
  rates.hang_for = rates.slow_for = kShort;
  EXPECT_EQ(failures(42, rates, counts), expected);
  EXPECT_GT(counts.hangs, 50u);
  EXPECT_GT(counts.slows, 50u);
  EXPECT_NE(counts.hangs, counts.slows) << "the same frames";
}

TEST(RandomFaults, NeverAndAlwaysAreExact) {
  FaultRates rates;
  FaultCounts counts;
  EXPECT_THAT(failures(1, rates, counts), Each(false));
  EXPECT_EQ(counts.total(), 0u);
  rates.fail = rates.hang = rates.slow = 1;
  rates.hang_for = rates.slow_for = kShort;
  EXPECT_THAT(failures(1, rates, counts), Each(true));
  EXPECT_EQ(counts.total(), 3000u);
}

TEST(FaultText, SaysWhatAPlanShallDo) {
  const FaultSettings settings =
      FaultPlan::parse(
          "fail=3,fail_every=5,status=INTERNAL,hang=7,hang_for=1s,slow=2ms,"
          "slow_for=300us,seed=42,fail_rate=0.01,hang_rate=0,slow_rate=1")
          .value();
  EXPECT_EQ(settings.fail, 3u);
  EXPECT_EQ(settings.fail_every, 5u);
  EXPECT_EQ(settings.hang, 7u);
  EXPECT_EQ(settings.slow, milliseconds(2));
  EXPECT_EQ(settings.seed, 42u);
  EXPECT_EQ(settings.rates.failure.code(), StatusCode::kInternal);
  EXPECT_EQ(settings.rates.hang_for, std::chrono::seconds(1));
  EXPECT_EQ(settings.rates.slow_for, std::chrono::microseconds(300));
  EXPECT_EQ(settings.rates.fail, 0.01);
  EXPECT_EQ(settings.rates.hang, 0.0);
  EXPECT_EQ(settings.rates.slow, 1.0);
}

TEST(FaultText, MayBeEmpty) {
  const FaultSettings settings = FaultPlan::parse("").value();
  EXPECT_EQ(settings.fail + settings.fail_every + settings.hang, 0u);
  EXPECT_EQ(settings.slow, nanoseconds(0));
  EXPECT_EQ(settings.rates.fail + settings.rates.hang + settings.rates.slow, 0.0);
}

TEST(FaultText, ThatMakesNoSenseIsRefusedWithTheReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"fial=3", "\"fial\"; the keys are fail, fail_every, status"},
      {"fail", "\"fail\" is not a setting"},
      {"fail=1,,hang=1", "\"\" is not a setting"},
      {"fail=1,fail=2", "\"fail\" is set twice"},
      {"fail=", "fail: \"\" is not a whole number"},
      {"fail=0", "fail: \"0\" is not a whole number"},
      {"fail=-1", "fail: \"-1\" is not a whole number"},
      {"fail=3x", "fail: \"3x\" is not a whole number"},
      {"hang=99999999999999999999", "is not a whole number"},
      {"seed=x", "seed: \"x\" is not a seed"},
      {"slow=2", "slow: \"2\" is no duration"},
      {"slow=ms", "slow: \"ms\" is no duration"},
      {"slow=-2ms", "slow: \"-2ms\" is no duration"},
      {"slow=2min", "slow: \"2min\" is no duration"},
      {"slow=0ms", "slow: \"0ms\" is no duration"},
      {"hang_for=99999999999s", "is longer than a year"},
      {"fail_rate=1.5", "fail_rate: \"1.5\" is not a probability"},
      {"fail_rate=-0.1", "fail_rate: \"-0.1\" is not a probability"},
      {"slow_rate=nan", "slow_rate: \"nan\" is not a probability"},
      {"status=OK", "status: \"OK\" is not the status of a failure"},
      {"status=PENDING", "status: \"PENDING\" is not the status of a failure"},
      {"status=BROKEN",
       "status: \"BROKEN\" is not the status of a failure; these are DEVICE_FAILED, "},
      {"status=TIMEOUT", "DEADLINE_EXCEEDED"},
      {"status=CANCELLED", "status: \"CANCELLED\" is not the status of a failure"},
  };
  for (const auto& [text, reason] : cases) {
    const Status status = FaultPlan::parse(text).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(status.message(), HasSubstr(reason)) << text;
  }
}

TEST_F(Faulty, DoesWhatTextSays) {
  faults_.apply(FaultPlan::parse("fail=3,status=INTERNAL,hang=2,hang_for=1ns").value());
  EXPECT_THAT(run(4), ElementsAre(kOk, kOk, StatusCode::kInternal, kOk));
  EXPECT_EQ(faults_.counts().hangs, 1u);
  faults_.heal();
  faults_.apply(FaultPlan::parse("fail_every=2,slow=1ns,slow_rate=1").value());
  EXPECT_THAT(run(4), ElementsAre(kOk, kFailed, kOk, kFailed));
  EXPECT_EQ(faults_.counts().slows, 4u);
}

TEST(FaultyDevice, IsTheDeviceBehindItWithFaults) {
  const auto inner = std::make_shared<test::PatternDevice>(3);
  FaultyDevice device(inner);
  EXPECT_EQ(device.name(), "faulty-pattern");
  EXPECT_THAT(device.description(), HasSubstr(inner->description()));
  EXPECT_EQ(&device.lanes(), &inner->lanes());
  EXPECT_EQ(faults_of(device), device.faults());
  EXPECT_EQ(faults_of(*inner), nullptr);

  const auto program =
      device.load(std::make_shared<graph::CompiledModel>(test::tiny_model())).value();
  EXPECT_EQ(program->model().name, "tiny");
  EXPECT_TRUE(program->accepts(Direction::kInput, 0, View::kHw));
  EXPECT_FALSE(program->accepts(Direction::kInput, 0, View::kCpu));
  EXPECT_EQ(program->info().device, "faulty-pattern");
  ASSERT_EQ(program->info().steps.size(), 1u);
  EXPECT_EQ(program->info().steps[0].output, test::kTinyOutput);
}

class FaultyByName : public ::testing::Test {
 protected:
  ~FaultyByName() override { unsetenv("MILLRACE_FAULTS"); }
  static void set_faults(const char* text) { setenv("MILLRACE_FAULTS", text, 1); }
};

TEST_F(FaultyByName, StandsInFrontOfTheDeviceItNames) {
  const auto inner = open_device("null", {.lanes = 2}).value();
  const auto faulty = open_device("faulty-null", {.lanes = 1}).value();
  EXPECT_EQ(faulty->name(), "faulty-null");
  EXPECT_EQ(&faulty->lanes(), &inner->lanes());
  EXPECT_EQ(open_device("faulty-null").value(), faulty);
  EXPECT_EQ(open_device("faulty").value(), faulty) << "short for the same";
  EXPECT_EQ(open_device("null").value(), inner);
}

TEST_F(FaultyByName, TakesItsFaultsFromTheEnvironment) {
  set_faults("fail=2");
  const auto device = open_device("faulty").value();
  FaultPlan& faults = *faults_of(*device);
  const test::TestRun control;
  EXPECT_TRUE(faults.enter(control).ok());
  EXPECT_EQ(faults.enter(control).code(), kFailed);
  EXPECT_TRUE(faults.enter(control).ok());
}

TEST_F(FaultyByName, FaultsThatMakeNoSenseAreRefused) {
  set_faults("fail=often");
  const Status status = open_device("faulty").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("MILLRACE_FAULTS"));
  EXPECT_TRUE(open_device("null").ok()) << "no other device looks at them";
}

TEST_F(FaultyByName, IsWhatProgramsOpenWhereFaultsAreSet) {
  EXPECT_EQ(open_device_of_program("null").value()->name(), "null");
  set_faults("fail=2");
  const auto device = open_device_of_program("null").value();
  EXPECT_EQ(device->name(), "faulty-null");
  EXPECT_EQ(open_device_of_program("faulty-null").value(), device);
  EXPECT_EQ(open_device_of_program("nosuch").status().code(), StatusCode::kNotFound);
  set_faults("");
  EXPECT_EQ(open_device_of_program("null").value()->name(), "null");
  setenv("MILLRACE_TRANSFER_FAULTS", "fail=2", 1);
  EXPECT_EQ(open_device_of_program("null").value(), device);
  unsetenv("MILLRACE_TRANSFER_FAULTS");
}

TEST_F(FaultyByName, NeedsADeviceBehindIt) {
  EXPECT_EQ(open_device("faulty-nosuch").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(open_device("faulty-").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(open_device("faulty-faulty").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(open_device("faulty-faulty-null").status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace millrace::device
