// The rules of a fault plan's text: what they select, what they do, and which text is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/hooks.h"
#include "base/names.h"
#include "device/faulty/failure_names.h"
#include "device/faulty/faulty_device.h"
#include "tests/support/log_capture.h"
#include "tests/support/pattern_device.h"
#include "tests/support/test_run.h"
#include "tests/support/tiny_model.h"

namespace millrace::device {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Numbers = std::vector<uint64_t>;

constexpr uint64_t kJobs = 1000;

// A new plan with the faults of the text.
struct PlanOfText : FaultPlan {
  explicit PlanOfText(std::string_view text) { apply(parse(text).value()); }
};

// Returns the numbers of the jobs, up to kJobs, of which `affected` is true. `job` has their facts.
template <class Affected>
Numbers numbers_of(const FaultPlan& plan, Affected&& affected, FaultedJob job = {}) {
  Numbers numbers;
  for (job.number = 1; job.number <= kJobs; ++job.number) {
    if (job.unit.empty()) job.number_in_unit = job.number;
    if (affected(plan.foresee(job))) numbers.push_back(job.number);
  }
  return numbers;
}
bool fails(const FrameFaults& faults) {
  return !faults.failure.ok();
}
bool is_slow(const FrameFaults& faults) {
  return faults.delay.count() > 0;
}

Numbers failing(std::string_view text) {
  const PlanOfText plan(text);
  return numbers_of(plan, fails);
}

TEST(FaultRule, SelectsARangeOfJobs) {
  EXPECT_THAT(failing("fail:jobs=7"), ElementsAre(7));
  EXPECT_THAT(failing("fail:jobs=5-7"), ElementsAre(5, 6, 7));
  EXPECT_THAT(failing("fail:jobs=999-"), ElementsAre(999, 1000));
  EXPECT_THAT(failing("degrade:after=998"), ElementsAre(999, 1000));
  EXPECT_EQ(failing("fail:").size(), kJobs);
}

TEST(FaultRule, SelectsEveryNthJobOfItsRange) {
  EXPECT_THAT(failing("fail:every=400"), ElementsAre(400, 800));
  EXPECT_THAT(failing("fail:jobs=101-107,every=3"), ElementsAre(103, 106));
}

TEST(FaultRule, SelectsJobsAtRandomWithTheSeed) {
  const Numbers expected = failing("fail:p=10%;seed=42");
  EXPECT_GT(expected.size(), 60u);
  EXPECT_LT(expected.size(), 140u);
  EXPECT_EQ(failing("seed=42;fail:p=0.1"), expected);
  EXPECT_NE(failing("fail:p=10%;seed=43"), expected);
  EXPECT_THAT(failing("fail:p=0"), IsEmpty());
}

TEST(FaultRule, DrawsForItself) {
  const PlanOfText plan("fail:p=10%;slow:p=10%,for=1ms;seed=42");
  EXPECT_EQ(numbers_of(plan, fails), failing("fail:p=10%;seed=42"));
  EXPECT_NE(numbers_of(plan, fails), numbers_of(plan, is_slow));
}

TEST(FaultRule, SelectsTheJobsOfAModel) {
  const PlanOfText plan("fail:jobs=2-3,model=glyphs");
  EXPECT_THAT(numbers_of(plan, fails, {.model = "glyphs"}), ElementsAre(2, 3));
  EXPECT_THAT(numbers_of(plan, fails, {.model = "glyphs2"}), IsEmpty());
}

TEST(FaultRule, CountsTheJobsOfTheUnitThatItNames) {
  const PlanOfText plan("fail:jobs=2,unit=COMPUTE of core 1");
  const auto failure = [&](std::string_view unit, uint64_t number_in_unit) {
    return plan.foresee({.number = 50, .unit = unit, .number_in_unit = number_in_unit}).failure;
  };
  EXPECT_FALSE(failure("COMPUTE of core 1", 2).ok());
  EXPECT_TRUE(failure("COMPUTE of core 1", 3).ok());
  EXPECT_TRUE(failure("COMPUTE of core 0", 2).ok());
}

TEST(FaultRule, AffectsTheFirstFrameOfAJob) {
  const PlanOfText plan("fail:jobs=2");
  EXPECT_TRUE(fails(plan.foresee({.number = 2, .frame = 0})));
  EXPECT_FALSE(fails(plan.foresee({.number = 2, .frame = 1})));
}

TEST(FaultRule, SaysWhatHappens) {
  const PlanOfText plan(
      "oom:jobs=1; degrade:jobs=2; fail:jobs=3,status=NRT_EXEC_OOB; hang:jobs=4,for=2s;"
      "hang:jobs=5; slow:jobs=6,for=3ms; slow:jobs=6-7,for=2ms; fail:jobs=3,status=INTERNAL");
  const auto job = [&](uint64_t number) { return plan.foresee({.number = number}); };
  EXPECT_EQ(job(1).failure.code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(job(2).failure.code(), StatusCode::kDeviceFailed);
  EXPECT_EQ(named_nrt_status(job(3).failure), 1006u) << "the first of two failures";
  EXPECT_EQ(job(4).hang_for, std::chrono::seconds(2));
  EXPECT_EQ(job(5).hang_for, kHangForever);
  EXPECT_EQ(job(6).delay, milliseconds(5)) << "delays add up";
  EXPECT_EQ(job(7).delay, milliseconds(2));
  EXPECT_FALSE(fails(job(8)) || is_slow(job(8)));
}

TEST(FaultRule, StandsBesideSettings) {
  const PlanOfText plan("fail=3,status=INTERNAL,seed=1;fail:jobs=3-4,status=HUNG");
  EXPECT_EQ(plan.foresee({.number = 3}).failure.code(), StatusCode::kInternal);
  EXPECT_EQ(plan.foresee({.number = 4}).failure.code(), StatusCode::kHung);
}

TEST(FaultRule, CountsFromTheNextJobAndEndsWithHeal) {
  FaultPlan plan;
  {
    const queue::AcceptanceOrder::Lock in_order = plan.order()->lock();
    for (int i = 0; i < 5; ++i) plan.order()->accept();
  }
  plan.apply(FaultPlan::parse("fail:jobs=2").value());
  EXPECT_THAT(numbers_of(plan, fails), ElementsAre(7));
  plan.heal();
  EXPECT_THAT(numbers_of(plan, fails), IsEmpty());
}

TEST(FaultRule, RefusesAllocationsInsteadOfJobs) {
  PlanOfText plan("oom:allocs=2;oom:allocs=5-6,every=2");
  std::vector<StatusCode> codes(7);
  for (StatusCode& code : codes) code = plan.admit_allocation().code();
  constexpr StatusCode kOk = StatusCode::kOk, kRefused = StatusCode::kOutOfMemory;
  EXPECT_THAT(codes, ElementsAre(kOk, kRefused, kOk, kOk, kOk, kRefused, kOk));
  EXPECT_EQ(plan.counts().refusals, 2u);
  EXPECT_THAT(numbers_of(plan, fails), IsEmpty());
}

TEST(FaultRule, RefusesCallsThatFindTheirQueueFull) {
  PlanOfText plan("full:jobs=2-3");
  std::vector<StatusCode> codes(4);
  for (StatusCode& code : codes) code = plan.admit_call().code();
  constexpr StatusCode kOk = StatusCode::kOk, kFull = StatusCode::kQueueFull;
  EXPECT_THAT(codes, ElementsAre(kOk, kFull, kFull, kOk));
  EXPECT_TRUE(plan.admit_allocation().ok());
  EXPECT_THAT(numbers_of(plan, fails), IsEmpty());
}

TEST(FaultRule, RefusesCallsForTheUnitThatItNames) {
  PlanOfText plan("full:unit=video,jobs=2");
  ASSERT_TRUE(plan.name_unit(3, "video").ok());
  ASSERT_TRUE(plan.name_unit(4, "audio").ok());
  std::vector<StatusCode> codes;
  for (const uint16_t unit : {3, 4, 4, 0, 3, 3}) codes.push_back(plan.admit_call(unit).code());
  constexpr StatusCode kOk = StatusCode::kOk, kFull = StatusCode::kQueueFull;
  EXPECT_THAT(codes, ElementsAre(kOk, kOk, kOk, kOk, kFull, kOk));
}

TEST(FaultRule, RefusesUsesOfFileDescriptors) {
  PlanOfText plan("fdloss:after=1");
  std::vector<StatusCode> codes(3);
  for (StatusCode& code : codes) code = plan.admit_descriptor().code();
  constexpr StatusCode kOk = StatusCode::kOk, kLost = StatusCode::kIoError;
  EXPECT_THAT(codes, ElementsAre(kOk, kLost, kLost));
  EXPECT_TRUE(plan.admit_allocation().ok());
  EXPECT_TRUE(plan.admit_call().ok());
  EXPECT_THAT(numbers_of(plan, fails), IsEmpty());
}

// Returns how much longer the jobs take, in ascending order.
std::vector<nanoseconds> delays(std::string_view text) {
  const PlanOfText plan(text);
  std::vector<nanoseconds> delays;
  for (uint64_t job = 1; job <= 10 * kJobs; ++job)
    delays.push_back(plan.foresee({.number = job}).delay);
  std::ranges::sort(delays);
  return delays;
}

TEST(FaultRule, MakesJobsSlowByADistribution) {
  const std::vector<nanoseconds> slow = delays("slow:mean=2ms,p99=9ms;seed=5");
  nanoseconds sum{0};
  for (const nanoseconds delay : slow) sum += delay;
  EXPECT_NEAR(static_cast<double>((sum / slow.size()).count()), 2e6, 2e5);
  EXPECT_NEAR(static_cast<double>(slow[slow.size() * 99 / 100].count()), 9e6, 9e5);
  EXPECT_EQ(delays("slow:mean=2ms,p99=9ms;seed=5"), slow);
  EXPECT_NE(delays("slow:mean=2ms,p99=9ms;seed=6"), slow);
}

TEST(FaultRule, MakesOneJobInAHundredSlowByThe99thPercentile) {
  const std::vector<nanoseconds> slow = delays("slow:p99=20ms;seed=5");
  const auto struck = std::ranges::count(slow, nanoseconds(milliseconds(20)));
  EXPECT_GT(struck, 70);
  EXPECT_LT(struck, 130);
  EXPECT_EQ(std::ranges::count(slow, nanoseconds(0)), 10 * kJobs - struck) << "the others are not";
}

TEST(FaultRule, MayBeShort) {
  const std::pair<const char*, const char*> cases[] = {
      {"slow@p99:20ms", "slow:p99=20ms"},
      {"slow@p99:2ms,9ms", "slow:mean=2ms,p99=9ms"},
      {"slow@p99:20ms;seed=3", "slow:p=1%,for=20ms;seed=3"},
  };
  for (const auto& [text, same] : cases) EXPECT_EQ(delays(text), delays(same)) << text;
  const auto rule = [](std::string_view text) {
    return FaultPlan::parse(text).value().rules.at(0);
  };
  EXPECT_EQ(rule("full@queue:0.1%").subject, FaultSubject::kCalls);
  EXPECT_DOUBLE_EQ(rule("full@queue:0.1%").probability, 0.001);
  EXPECT_EQ(rule("full@queue:0.1%").unit, "");
  EXPECT_EQ(rule("full@queue :0.1%").unit, "");  // blanks are no part of a name
  EXPECT_EQ(rule("full@TENSOR_OP queue 0 of core 1:1%").unit, "TENSOR_OP queue 0 of core 1");
  EXPECT_EQ(rule("nan@probs:0").output, "probs:0");
  EXPECT_EQ(rule("oom@alloc:3").first, 3u);
  EXPECT_EQ(rule("oom@alloc:3").text, "oom@alloc:3");
}

// A plan with each kind, and what observers are told of it.
TEST(FaultRule, TellsObserversTheKindOfEachFault) {
  std::vector<std::string> kinds;
  const HookFunction note = [](void* observer, const HookEvent& event) noexcept {
    if (event.point == HookPoint::kInjected)
      static_cast<std::vector<std::string>*>(observer)->push_back(name_with(name_in(event.detail)));
  };
  PlanOfText plan(
      "fail:jobs=1; slow:jobs=2,for=1ns; hang:jobs=3,for=1ns; oom:allocs=1; full:; fdloss:");
  test::TestRun run;
  ASSERT_TRUE(add_hook(note, &kinds));
  for (int job = 0; job < 4; ++job) {
    static_cast<void>(plan.enter(run));
    plan.leave();
  }
  plan.note_spoilt(run);
  EXPECT_FALSE(plan.admit_allocation().ok());
  EXPECT_FALSE(plan.admit_call().ok());
  EXPECT_FALSE(plan.admit_descriptor().ok());
  remove_hook(note, &kinds);
  EXPECT_THAT(kinds, ElementsAre("fail", "slow", "hang", "nan", "oom", "full", "fdloss"));
}

TEST(FaultRule, ThatMakesNoSenseIsRefusedWithTheReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"fial:jobs=3",
       "no action \"fial\"; the actions are fail, degrade, oom, hang, slow, nan, full"},
      {"nan", "or a rule such as nan:jobs=3"},
      {"fail:3", "fail: \"3\" is not a setting"},
      {"fail:job=3", "fail: there is no key \"job\"; its keys are jobs, after, every, p, model"},
      {"full:model=glyphs", "full: it is about calls, and model selects jobs"},
      {"oom:allocs=0", "allocs: \"0\" is not a range of allocations"},
      {"oom:allocs=3,model=glyphs", "oom: allocs selects allocations, and model selects jobs"},
      {"oom:status=HUNG", "oom: there is no key \"status\""},
      {"fail:jobs=3,jobs=4", "\"jobs\" is set twice"},
      {"fail:jobs=", "jobs: \"\" is not a range of jobs"},
      {"fail:jobs=0", "jobs: \"0\" is not a range"},
      {"fail:jobs=9-5", "jobs: \"9-5\" is not a range"},
      {"fail:jobs=-5", "jobs: \"-5\" is not a range"},
      {"fail:jobs=1-2-3", "jobs: \"1-2-3\" is not a range"},
      {"fail:after=18446744073709551615", "after: \"18446744073709551615\" is too large"},
      {"fail:jobs=3,after=2", "state one of them"},
      {"fail:p=101%", "p: \"101%\" is not a probability"},
      {"fail:p=nan", "p: \"nan\" is not a probability"},
      {"fail:model=", "model: \"\" is no name"},
      {"fail:status=QUEUE_FULL", "status: \"QUEUE_FULL\" is not the status of a failure"},
      {"fail:status=1100", "status: \"1100\" is not the status of a failure"},
      {"slow:jobs=3", "slow: it does not say how much longer"},
      {"slow:mean=2ms", "slow: mean needs p99"},
      {"slow:for=2ms,p99=3ms", "slow: for is the time of every job"},
      {"slow:p99=3ms,p=5%", "slow: p99 alone selects one job in a hundred"},
      {"slow:mean=2ms,p99=1ms", "slow: the 99th percentile is 0.5 times the mean"},
      {"slow@p95:20ms", "\"slow@p95:20ms\" is no short rule"},
      {"full@queue", "\"full@queue\" is no short rule"},
      {"full@queue:often", "full: p: \"often\" is not a probability"},
      {"hang@unit:2s", "is no short rule"},
      {"fdloss:unit=video", "fdloss: it is about file descriptors, and unit selects jobs"},
      {"hang:for=2", "for: \"2\" is no duration"},
      {"jobs=3", "(jobs is of rules, such as fail:jobs=...)"},
      {"fail:jobs=3;fial=2", "\"fial\"; the keys are"},
  };
  for (const auto& [text, reason] : cases) {
    const Status status = FaultPlan::parse(text).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(status.message(), HasSubstr(reason)) << text;
  }
}

TEST(FaultRule, OfTransfersKnowsNeitherModelsNorOutputs) {
  const auto refusal = [](std::string_view text) {
    return FaultPlan::parse(text, Work::kTransfer).status().message();
  };
  EXPECT_THAT(refusal("nan:jobs=3"), HasSubstr("nan: transfers have no outputs"));
  EXPECT_THAT(refusal("fail:model=glyphs"), HasSubstr("fail: transfers have no model"));
  EXPECT_THAT(refusal("oom:allocs=3"), HasSubstr("oom: allocs is for MILLRACE_FAULTS"));
  EXPECT_THAT(refusal("fdloss:"), HasSubstr("fdloss: it is for MILLRACE_FAULTS"));
  EXPECT_EQ(refusal("fail:jobs=3,unit=TENSOR_OP queue 0 of core 0"), "");
}

TEST(FaultRule, IsOneOfAFewAndTheOthersAreRefused) {
  std::string text;
  for (size_t i = 0; i <= kMostFaultRules; ++i) text += "fail:jobs=3;";
  EXPECT_THAT(FaultPlan::parse(text).status().message(), HasSubstr("at most 64 rules, not 65"));
}

TEST(FailureNames, AreThoseOfThreeApis) {
  const auto read = [](std::string_view text) {
    Status failure;
    EXPECT_EQ(read_failure(text, failure), "") << text;
    return failure;
  };
  EXPECT_EQ(read("DEVICE_FAILED").code(), StatusCode::kDeviceFailed);
  EXPECT_EQ(read("RUNTIME_ERROR").code(), StatusCode::kInternal);
  EXPECT_EQ(read("1201").message(), read("NRT_EXEC_HW_ERR_HBM_UE").message());
  EXPECT_EQ(named_nrt_status(read("1201")), 1201u);
  EXPECT_EQ(named_nrt_status(read("1201").with_context("frame 0")), 1201u);
  const Status refusal(StatusCode::kUnitDegraded, "degraded by: " + read("1201").message());
  EXPECT_EQ(named_nrt_status(refusal), std::nullopt) << "a consequence of the failure";
  EXPECT_EQ(named_nrt_status(read("DEVICE_FAILED")), std::nullopt);
  EXPECT_EQ(named_nrt_status(internal_error("the mill stopped")), std::nullopt);
}

TEST(FailureNames, SayWhatProgramsSee) {
  Status failure;
  ASSERT_EQ(read_failure("5", failure), "");
  const FailureView view = view_of(failure);
  EXPECT_EQ(view.vart, "RUNTIME_ERROR");
  EXPECT_EQ(view.nrt, "NRT_TIMEOUT");
  EXPECT_EQ(view.nrt_number, 5u);
  EXPECT_TRUE(view.degrades_unit);
  EXPECT_EQ(view_of(invalid_argument("")).nrt_number, 1006u);
  EXPECT_FALSE(view_of(invalid_argument("")).degrades_unit);
}

// The tiny model on a faulty device, whose outputs the inner device fills with a pattern.
class FaultyOutputs : public ::testing::Test {
 protected:
  void load(std::string_view faults, graph::CompiledModel model = test::tiny_model()) {
    device_.faults()->apply(FaultPlan::parse(faults).value());
    program_ = device_.load(std::make_shared<graph::CompiledModel>(std::move(model))).value();
    context_ = program_->create_context().value();
  }
  // Runs the next job, and returns its output.
  std::vector<float> run() {
    std::vector<std::byte> input(program_->model().inputs[0].hw->bytes(), std::byte{4});
    std::vector<float> output(program_->model().outputs[0].hw->elements());
    const Binding inputs[] = {{input.data(), View::kHw}};
    const Binding outputs[] = {{output.data(), View::kHw}};
    EXPECT_TRUE(context_->run(inputs, outputs, control_).ok());
    return output;
  }

  test::TestRun control_;
  FaultyDevice device_{std::make_shared<test::PatternDevice>(1)};
  std::shared_ptr<const Program> program_;
  std::unique_ptr<Context> context_;
};

MATCHER(IsNotANumber, "") {
  return std::isnan(arg);
}

TEST_F(FaultyOutputs, AreFilledWithNanWhereARuleSaysSo) {
  load("nan:jobs=2");
  EXPECT_THAT(run(), Each(::testing::Not(IsNotANumber())));
  EXPECT_THAT(run(), Each(IsNotANumber()));
  EXPECT_THAT(run(), Each(::testing::Not(IsNotANumber())));
  EXPECT_EQ(device_.faults()->counts().nans, 1u);
}

TEST_F(FaultyOutputs, AreNamed) {
  load("nan:output=probs;nan:output=other,model=another");
  EXPECT_THAT(run(), Each(IsNotANumber()));
}

TEST_F(FaultyOutputs, ThatAModelDoesNotHaveAreWarnedOf) {
  const test::LogCapture log;
  load("nan:output=porbs,model=tiny");
  EXPECT_THAT(log.lines(), Contains(AllOf(HasSubstr("nan:output=porbs,model=tiny"),
                                          HasSubstr("has no output \"porbs\""))));
  EXPECT_THAT(run(), Each(::testing::Not(IsNotANumber())));
  EXPECT_EQ(device_.faults()->counts().total(), 0u);
}

}  // namespace
}  // namespace millrace::device
