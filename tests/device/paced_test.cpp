// The paced device: profiles and their times, and jobs that take them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/hooks.h"
#include "base/names.h"
#include "device/null/null_device.h"
#include "device/paced/paced_device.h"
#include "device/registry.h"
#include "tests/support/log_capture.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_run.h"
#include "tests/support/tiny_model.h"

namespace millrace::device {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using ::testing::Contains;
using ::testing::HasSubstr;

std::string profile_with(const std::string& keys) {
  return R"({"format": "millrace-pace", "version": 1, )" + keys + "}";
}

std::vector<nanoseconds> draws(const ServiceTimes& times, size_t count, uint64_t seed = 1) {
  std::vector<nanoseconds> drawn;
  for (uint64_t number = 0; number < count; ++number) drawn.push_back(times.draw(seed, number));
  return drawn;
}

double mean_of(const std::vector<nanoseconds>& times) {
  double sum = 0;
  for (const nanoseconds time : times) sum += static_cast<double>(time.count());
  return sum / static_cast<double>(times.size());
}

TEST(ServiceTimes, OfMeanAndPercentileHaveBoth) {
  const ServiceTimes times =
      ServiceTimes::from_mean_and_p99(microseconds(2'000), microseconds(5'000)).value();
  EXPECT_NEAR(static_cast<double>(times.mean().count()), 2e6, 10);
  std::vector<nanoseconds> drawn = draws(times, 100'000);
  EXPECT_NEAR(mean_of(drawn), 2e6, 2e4);
  std::ranges::sort(drawn);
  EXPECT_NEAR(static_cast<double>(drawn[99'000].count()), 5e6, 1.5e5);
}

TEST(ServiceTimes, OfSamplesAreDistributedLikeThem) {
  std::vector<nanoseconds> samples;
  for (int i = 10'000; i > 0; --i) samples.push_back(microseconds(i <= 100 ? 900 : 100));
  const ServiceTimes times = ServiceTimes::from_samples(samples).value();
  EXPECT_NEAR(static_cast<double>(times.mean().count()), 108e3, 500);
  const std::vector<nanoseconds> drawn = draws(times, 100'000);
  const auto slow =
      std::ranges::count_if(drawn, [](auto time) { return time > microseconds(500); });
  EXPECT_NEAR(static_cast<double>(slow), 1'000, 100);
}

TEST(ServiceTimes, OfTheSameSeedAreTheSame) {
  const ServiceTimes times =
      ServiceTimes::from_mean_and_p99(microseconds(100), microseconds(300)).value();
  EXPECT_EQ(draws(times, 100, 7), draws(times, 100, 7));
  EXPECT_NE(draws(times, 100, 7), draws(times, 100, 8));
}

TEST(ServiceTimes, RefuseWhatIsNoDistribution) {
  EXPECT_FALSE(ServiceTimes::constant(nanoseconds(0)).ok());
  EXPECT_FALSE(ServiceTimes::constant(std::chrono::hours(2)).ok());
  EXPECT_FALSE(ServiceTimes::from_mean_and_p99(microseconds(10), microseconds(9)).ok());
  EXPECT_FALSE(ServiceTimes::from_mean_and_p99(microseconds(10), microseconds(151)).ok());
  EXPECT_FALSE(ServiceTimes::from_quantiles({microseconds(1)}).ok());
  EXPECT_FALSE(ServiceTimes::from_quantiles({microseconds(2), microseconds(1)}).ok());
  EXPECT_FALSE(ServiceTimes::from_samples({}).ok());
}

TEST(PaceProfile, HasTheTimesOfItsModels) {
  const PaceProfile profile =
      PaceProfile::parse(profile_with(R"("device": "board", "lanes": 4, "seed": 3,
                          "models": {"a": {"mean_us": 12.5}, "b": {"mean_us": 10, "p99_us": 20},
                                     "*": {"quantiles_us": [1, 3]}},
                          "transfers": {"fixed_us": 5, "bytes_per_second": 1e9})"))
          .value();
  EXPECT_EQ(profile.device, "board");
  EXPECT_EQ(profile.lanes, 4u);
  EXPECT_EQ(profile.seed, 3u);
  EXPECT_EQ(profile.times_of("a")->mean(), nanoseconds(12'500));
  EXPECT_EQ(profile.times_of("of another name")->mean(), microseconds(2));
  EXPECT_EQ(profile.transfers->time_of(1'000), microseconds(6));
  const PaceProfile again = PaceProfile::parse(profile.text()).value();
  EXPECT_EQ(again.text(), profile.text());
  EXPECT_EQ(again.times_of("b")->stated_p99(), microseconds(20));
}

TEST(PaceProfile, SaysWhatIsWrong) {
  const auto complaint = [](const std::string& text) {
    return PaceProfile::parse(text).status().message();
  };
  EXPECT_THAT(complaint("{"), HasSubstr("not valid JSON"));
  EXPECT_THAT(complaint("[]"), HasSubstr("not an object"));
  EXPECT_THAT(complaint("{}"), HasSubstr("millrace-pace"));
  EXPECT_THAT(complaint(profile_with(R"("models": {})")), HasSubstr("neither of models"));
  EXPECT_THAT(complaint(profile_with(R"("model": {})")), HasSubstr("unknown key \"model\""));
  EXPECT_THAT(complaint(profile_with(R"("models": {"a": {}})")), HasSubstr("model \"a\""));
  EXPECT_THAT(complaint(profile_with(R"("models": {"a": {"mean_us": -1}})")), HasSubstr("-1"));
  EXPECT_THAT(complaint(profile_with(R"("models": {"a": {"mean_us": "fast"}})")),
              HasSubstr("not a number"));
  EXPECT_THAT(complaint(profile_with(R"("models": {"a": {"quantiles_us": 3}})")),
              HasSubstr("not a list"));
  EXPECT_THAT(complaint(profile_with(R"("lanes": 9999, "models": {"a": {"mean_us": 1}})")),
              HasSubstr("lanes"));
  EXPECT_THAT(complaint(profile_with(R"("transfers": {"bytes_per_second": 0})")),
              HasSubstr("bytes_per_second"));
}

class Paced : public ::testing::Test {
 protected:
  // A device that computes nothing, at the pace of the model.
  static std::shared_ptr<Device> device(const std::string& times,
                                        const std::string& model = "tiny") {
    return std::make_shared<PacedDevice>(
        create_null_device({.lanes = 1}).value(),
        PaceProfile::parse(profile_with("\"models\": {\"" + model + "\": {" + times + "}}"))
            .value());
  }
  static std::shared_ptr<const Program> load(Device& device) {
    auto model = test::tiny_model();
    model.name = "tiny";
    return device.load(std::make_shared<graph::CompiledModel>(std::move(model))).value();
  }
};

TEST_F(Paced, AJobTakesTheTimeOfTheProfile) {
  const auto paced = device(R"("mean_us": 5000)");
  const auto program = load(*paced);
  test::TestRun control;
  const int64_t begun = now_ns();
  EXPECT_TRUE(program->create_context().value()->run({}, {}, control).ok());
  EXPECT_GE(now_ns() - begun, 5'000'000);
  EXPECT_EQ(program->info().device, "paced-null");
}

// Keeps the names of the phases that a timeline would show.
struct Phases {
  Phases() { add_hook(keep, this); }
  ~Phases() { remove_hook(keep, this); }
  Phases(const Phases&) = delete;
  Phases& operator=(const Phases&) = delete;
  static void keep(void* phases, const HookEvent& event) noexcept {
    if (event.point == HookPoint::kPhaseBegan)
      static_cast<Phases*>(phases)->names.push_back(name_with(static_cast<NameId>(event.detail)));
  }

  std::vector<std::string> names;
};

TEST_F(Paced, TheWaitIsAPhaseOfItsOwn) {
  const auto paced = device(R"("mean_us": 3000)");
  const auto program = load(*paced);
  test::TestRun control;
  const Phases phases;
  EXPECT_TRUE(program->create_context().value()->run({}, {}, control).ok());
  EXPECT_THAT(phases.names, testing::ElementsAre("pace"));
}

TEST_F(Paced, AStopEndsTheWait) {
  const auto paced = device(R"("mean_us": 3600000000)");
  const auto program = load(*paced);
  test::TestRun control;
  std::thread stopping([&] { control.stop(); });
  EXPECT_EQ(program->create_context().value()->run({}, {}, control).code(), StatusCode::kCancelled);
  stopping.join();
}

TEST_F(Paced, ModelsWithoutTimesRunAndAreNamed) {
  test::LogCapture log;
  const auto paced = device(R"("mean_us": 3600000000)", "another");
  const auto program = load(*paced);
  test::TestRun control;
  EXPECT_TRUE(program->create_context().value()->run({}, {}, control).ok());
  EXPECT_THAT(log.lines(), Contains(HasSubstr("no times of model \"tiny\"")));
}

TEST_F(Paced, AJobThatCannotKeepThePaceIsNamedOnce) {
  test::LogCapture log;
  const auto paced = device(R"("mean_us": 0.001)");
  const auto program = load(*paced);
  const auto context = program->create_context().value();
  for (int i = 0; i < 3; ++i) {
    test::TestRun control;
    EXPECT_TRUE(context->run({}, {}, control).ok());
  }
  EXPECT_EQ(log.count("cannot keep the pace"), 1u);
}

// Tells when a frame began each of its steps, which compute nothing.
class SteppedProgram final : public Program {
 public:
  explicit SteppedProgram(std::vector<std::string> nodes) : nodes_(std::move(nodes)) {
    model_.name = "stepped";
  }

  const graph::CompiledModel& model() const noexcept override { return model_; }
  bool accepts(Direction, size_t, View) const noexcept override { return true; }
  ProgramInfo info() const override {
    ProgramInfo info;
    for (const std::string& node : nodes_) info.steps.emplace_back().node = node;
    return info;
  }
  Result<std::unique_ptr<Context>> create_context() const override {
    return std::unique_ptr<Context>(std::make_unique<SteppedContext>(nodes_.size()));
  }

 private:
  class SteppedContext final : public Context {
   public:
    explicit SteppedContext(size_t steps) : steps_(static_cast<uint32_t>(steps)) {}
    Status run(std::span<const Binding>, std::span<const Binding>,
               queue::RunControl& control) noexcept override {
      for (uint32_t step = 0; step < steps_; ++step) {
        control.begin_step(step);
        if (control.stop_requested()) return control.stop_status();
      }
      control.end_steps();
      return {};
    }

   private:
    const uint32_t steps_;
  };

  graph::CompiledModel model_;
  const std::vector<std::string> nodes_;
};

TEST(OperatorPace, AddsUpTheTimesOfTheStepsBefore) {
  const OperatorTimes times = {
      {"a", microseconds(3)}, {"b", microseconds(2)}, {"merged", microseconds(1)}};
  const OperatorPace pace(SteppedProgram({"a", "", "a", "b"}), times);
  std::vector<int64_t> before;
  for (uint32_t step = 0; step < 4; ++step)
    before.push_back(pace.before({.step = step}) / microseconds(1));
  EXPECT_THAT(before, testing::ElementsAre(0, 3, 3, 3));
  EXPECT_EQ(pace.sum(), microseconds(6));
  EXPECT_EQ(pace.sum_of_steps(), microseconds(5));
  EXPECT_THAT(pace.missing(), testing::ElementsAre("merged"));
}

TEST(OperatorPace, GoesByPartitionsWhereADeviceReportsNoSteps) {
  const auto null = create_null_device({.lanes = 1}).value();
  auto model = test::tiny_model({.cpu_partition = true});
  const std::string first = model.graph.nodes[0].name;
  ASSERT_GE(model.partitions.size(), 2u);
  const auto program = null->load(std::make_shared<graph::CompiledModel>(std::move(model))).value();
  const OperatorPace pace(*program, {{first, microseconds(3)}});
  EXPECT_EQ(pace.before({.partition = 0}), microseconds(0));
  EXPECT_EQ(pace.before({.partition = 1}), microseconds(3));
}

// A device with one program, which it returns for any model.
class SteppedDevice final : public Device {
 public:
  std::string name() const override { return "stepped"; }
  graph::Capabilities capabilities() const noexcept override { return null_->capabilities(); }
  Result<std::shared_ptr<const Program>> load(
      std::shared_ptr<const graph::CompiledModel>) override {
    return std::shared_ptr<const Program>(
        std::make_shared<SteppedProgram>(std::vector<std::string>{"a", "b"}));
  }
  queue::Lanes& lanes() noexcept override { return null_->lanes(); }

 private:
  const std::shared_ptr<Device> null_ = create_null_device({.lanes = 1}).value();
};

// Notes when an observer of a job, as a timeline is, sees its steps.
class StepTimes final : public queue::ProgressObserver {
 public:
  void on_progress(const queue::RunControl&) noexcept override { note(); }
  void on_steps_done(const queue::RunControl&) noexcept override { note(); }
  const std::vector<int64_t>& times_ns() const { return times_ns_; }

 private:
  void note() noexcept { times_ns_.push_back(now_ns()); }
  std::vector<int64_t> times_ns_;
};

TEST_F(Paced, EachOperatorTakesItsShareOfTheJob) {
  // The operators take 6 of the 8 ms.
  const auto profile = PaceProfile::parse(profile_with(
      R"("models": {"stepped": {"mean_us": 8000, "operators": {"a": 2000, "b": 4000}}})"));
  PacedDevice paced(std::make_shared<SteppedDevice>(), profile.value());
  const auto program = paced.load(nullptr).value();
  test::TestRun control;
  StepTimes seen;
  const queue::ObserverScope observed(control, seen);
  const int64_t begun = now_ns();
  EXPECT_TRUE(program->create_context().value()->run({}, {}, control).ok());
  EXPECT_GE(now_ns() - begun, 8'000'000);
  const std::vector<int64_t>& times = seen.times_ns();
  ASSERT_EQ(times.size(), 3u);
  EXPECT_GE(times[1] - begun, 2'000'000) << "the timeline says that the first step took so long";
  EXPECT_GE(times[2] - begun, 6'000'000);
}

TEST(PaceProfile, HasTheTimesOfOperators) {
  const auto parsed = [](const std::string& model) {
    return PaceProfile::parse(profile_with(R"("models": {"net": {)" + model + "}}"));
  };
  const PaceProfile profile = parsed(R"("operators": {"a": 2, "b": 4.5})").value();
  EXPECT_EQ(profile.times_of("net")->mean(), nanoseconds(6'500)) << "the sum";
  EXPECT_EQ(profile.operators_of("net")->at("b"), nanoseconds(4'500));
  EXPECT_EQ(profile.operators_of("another"), nullptr);
  EXPECT_EQ(PaceProfile::parse(profile.text()).value().text(), profile.text());
  EXPECT_EQ(parsed(R"("operators": {"a": 2}, "p99_us": 4)").value().times_of("net")->stated_p99(),
            microseconds(4));
  EXPECT_THAT(parsed(R"("operators": {})").status().message(), HasSubstr("0 nodes"));
  EXPECT_THAT(parsed(R"("operators": {"a": 0})").status().message(), HasSubstr("add up to 0 us"));
  EXPECT_THAT(parsed(R"("operators": {"a": "long"})").status().message(), HasSubstr("\"a\""));
  EXPECT_THAT(PaceProfile::parse(profile_with(R"("models": {"*": {"operators": {"a": 1}}})"))
                  .status()
                  .message(),
              HasSubstr("name of its own"));
}

TEST_F(Paced, TransfersTakeTheirTimeAndArrive) {
  PacedDevice paced(
      create_null_device({.lanes = 1}).value(),
      PaceProfile::parse(profile_with(R"("transfers": {"fixed_us": 100, "bytes_per_second": 1e6})"))
          .value());
  const std::vector<int> from(500, 7);
  std::vector<int> to(500);
  test::TestRun control;
  const int64_t begun = now_ns();
  EXPECT_TRUE(paced.transfer(to.data(), from.data(), 2'000, control).ok());
  EXPECT_GE(now_ns() - begun, 2'100'000);
  EXPECT_EQ(to, from);
}

// Sets the variable, and unsets it at its end.
class PaceOfEnvironment {
 public:
  explicit PaceOfEnvironment(const std::string& path) { setenv(kPaceVariable, path.c_str(), 1); }
  ~PaceOfEnvironment() { unsetenv(kPaceVariable); }
  PaceOfEnvironment(const PaceOfEnvironment&) = delete;
  PaceOfEnvironment& operator=(const PaceOfEnvironment&) = delete;
};

TEST(PacedRegistry, TheVariablePutsThePaceInFrontOfTheDeviceOfAProgram) {
  const test::TemporaryDirectory folder;
  const std::string path = folder.file("board.json");
  std::ofstream(path) << profile_with(
      R"("device": "board", "lanes": 3, "models": {"*": {"mean_us": 1}})");
  const PaceOfEnvironment environment(path);
  const std::shared_ptr<Device> opened = open_device_of_program("null").value();
  EXPECT_EQ(opened->name(), "paced-null");
  EXPECT_EQ(opened->lanes().count(), 3u);
  EXPECT_THAT(opened->description(), HasSubstr("board"));
}

TEST(PacedRegistry, AWrongProfileIsRefusedByItsPath) {
  const PaceOfEnvironment environment("/nowhere/board.json");
  const Status status = open_device_of_program("null").status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.message(), HasSubstr("/nowhere/board.json"));
  EXPECT_THAT(status.message(), HasSubstr("MILLRACE_PACE"));
}

TEST(PacedRegistry, APacedDeviceNeedsAProfile) {
  EXPECT_EQ(open_device("paced-null").status().code(), StatusCode::kInvalidArgument);
  const PaceOfEnvironment environment("/nowhere/board.json");
  EXPECT_THAT(open_device("paced-paced-null").status().message(), HasSubstr("cannot wrap"));
  EXPECT_THAT(open_device("paced-faulty-null").status().message(), HasSubstr("cannot wrap"));
}

}  // namespace
}  // namespace millrace::device
