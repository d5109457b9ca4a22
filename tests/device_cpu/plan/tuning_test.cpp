// Kernels that are chosen by measured times: MILLRACE_TUNING and MILLRACE_TUNE.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "device/registry.h"
#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"
#include "tests/support/log_capture.h"
#include "tests/support/temporary_directory.h"

namespace millrace::device::cpu {
namespace {

using graph::Dims;
using graph::Precision;
using graph::ValueId;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

// A residual block and a concatenation between convolutions.
std::shared_ptr<const graph::CompiledModel> network(Precision precision = Precision::kFp32) {
  ModelBuilder builder(precision);
  uint32_t seed = 1;
  const auto conv = [&](ValueId x, int64_t from, int64_t to, int64_t kernel,
                        ValueId residual = graph::kNoValue) {
    Tensor weight = Tensor::numbers({to, from, kernel, kernel}, seed++);
    for (float& value : weight.data) value /= static_cast<float>(from * kernel);
    const Dims pad = {kernel / 2, kernel / 2};
    std::vector<ValueId> inputs = {x, builder.constant(weight),
                                   builder.constant(Tensor::numbers({to}, seed++))};
    if (residual != graph::kNoValue) inputs.push_back(residual);
    return builder.node(graph::Conv{{1, 1}, {1, 1}, pad, pad, 1, {graph::UnaryKind::kRelu, 0, 0}},
                        inputs);
  };
  const ValueId x = conv(builder.input({1, 3, 20, 20}), 3, 32, 3);
  const ValueId sum = conv(conv(x, 32, 32, 1), 32, 32, 3, x);
  const ValueId joined = builder.node(graph::Concat{1}, {sum, conv(sum, 32, 32, 1)});
  builder.output(conv(joined, 64, 16, 3));
  return builder.build();
}

Tensor picture() {
  return Tensor::numbers({1, 3, 20, 20}, 9);
}

// The layouts of the convolutions but the first, whose image of three channels not all processors
// have each form for.
std::vector<std::string> layouts_of_results(const Program& program) {
  std::vector<std::string> layouts;
  for (const StepInfo& step : program.info().steps)
    if (step.operation == "Conv") layouts.push_back(step.writes);
  layouts.erase(layouts.begin());
  return layouts;
}

std::vector<std::string> reasons(const Program& program) {
  std::vector<std::string> found;
  for (const StepInfo& step : program.info().steps)
    if (step.operation == "Conv") found.push_back(step.reason);
  return found;
}

// Returns what the kernels of the convolutions were chosen by.
std::vector<KernelChoice> choices(const Program& program) {
  std::vector<KernelChoice> found;
  for (const StepInfo& step : program.info().steps)
    if (step.operation == "Conv") found.push_back(step.chosen_by);
  return found;
}

class Tuning : public ::testing::Test {
 protected:
  Tuning() { setenv("MILLRACE_TUNING", record_.c_str(), 1); }
  ~Tuning() override {
    unsetenv("MILLRACE_TUNING");
    unsetenv("MILLRACE_TUNE");
  }

  std::shared_ptr<const Program> load_measuring(Precision precision = Precision::kFp32) {
    setenv("MILLRACE_TUNE", "1", 1);
    auto program = load(network(precision));
    unsetenv("MILLRACE_TUNE");
    return program;
  }
  std::string text() const {
    std::ifstream file(record_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& text) const { std::ofstream(record_) << text; }

  // Makes one form of every convolution much faster than the others, and moves cheap.
  void favour(const std::string& form) const {
    std::istringstream lines(text());
    std::string changed;
    for (std::string line; std::getline(lines, line);) {
      const bool is_time = line.starts_with("conv") || line.starts_with("move");
      const bool is_slow =
          line.starts_with("conv") && line.find('\t' + form + '\t') == std::string::npos;
      changed += is_time ? line.substr(0, line.rfind('\t') + 1) + (is_slow ? "900000" : "1") : line;
      changed += '\n';
    }
    write(changed);
  }

  test::TemporaryDirectory folder_;
  const std::string record_ = folder_.file("times");
};

TEST_F(Tuning, WhatWasMeasuredIsKeptAndGivesTheSamePlanAgain) {
  const auto measured = load_measuring();
  EXPECT_THAT(reasons(*measured), Each(HasSubstr("measured here")));
  EXPECT_THAT(choices(*measured), Each(KernelChoice::kMeasured));
  const std::string times = text();
  const auto again = load(network());
  EXPECT_EQ(implementations(*again), implementations(*measured));
  EXPECT_EQ(reasons(*again), reasons(*measured));
  load_measuring();
  EXPECT_EQ(text(), times);
}

TEST_F(Tuning, OneRecordHasTheTimesOfSeveralModels) {
  load_measuring();
  const std::string times = text();
  load_measuring(Precision::kBf16);
  test::LogCapture log;
  EXPECT_THAT(reasons(*load(network())), Each(HasSubstr("measured here")));
  EXPECT_EQ(log.count("usual kernels"), 0U);
}

TEST_F(Tuning, TheFastestFormIsTaken) {
  load_measuring();
  favour("channels-last");
  EXPECT_THAT(layouts_of_results(*load(network())), Each(HasSubstr("acdb")));
  favour("blocked");
  EXPECT_THAT(layouts_of_results(*load(network())), Each(Not(HasSubstr("acdb"))));
}

TEST_F(Tuning, EveryPlanComputesTheSame) {
  unsetenv("MILLRACE_TUNING");
  const Tensor expected = run_model(network(), {picture()});
  setenv("MILLRACE_TUNING", record_.c_str(), 1);
  load_measuring();
  for (const char* form : {"blocked", "channels-last", "library", "winograd", "separable"}) {
    SCOPED_TRACE(form);
    favour(form);
    expect_close(run_model(network(), {picture()}), expected, 1e-4);
  }
}

// The image between the two is so large that one step for both is usual.
std::shared_ptr<const graph::CompiledModel> separable_network(
    graph::Precision precision = graph::Precision::kFp32) {
  ModelBuilder builder(precision);
  const ValueId between = builder.node(
      graph::Conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {}},
      {builder.input({1, 16, 48, 48}), builder.constant(Tensor::numbers({32, 16, 1, 1}, 3))});
  builder.output(builder.node(graph::Conv{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 32, {}},
                              {between, builder.constant(Tensor::numbers({32, 1, 3, 3}, 4))}));
  return builder.build();
}

TEST_F(Tuning, OneStepForTwoConvolutionsIsMeasuredAndChosenAsAnyForm) {
  for (const graph::Precision precision : {graph::Precision::kFp32, graph::Precision::kBf16}) {
    SCOPED_TRACE(graph::name_of(precision));
    setenv("MILLRACE_TUNE", "1", 1);
    load(separable_network(precision));
    unsetenv("MILLRACE_TUNE");
    const auto is_separable = [precision] {
      return std::ranges::count(implementations(*load(separable_network(precision))),
                                "Conv millrace:separable") != 0;
    };
    const bool has_step = text().find("separable") != std::string::npos;
    favour("blocked");
    EXPECT_FALSE(is_separable());
    favour("separable");
    EXPECT_EQ(is_separable(), has_step);
    std::filesystem::remove(record_);
  }
}

// An image whose sides and channels fill nothing, a convolution of one pixel, and a depthwise one.
struct SmallPair {
  int64_t channels, height, width, stride, pad;
};

std::shared_ptr<const graph::CompiledModel> pair_network(const SmallPair& pair) {
  ModelBuilder builder;
  const ValueId between =
      builder.node(graph::Conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {graph::UnaryKind::kRelu, 0, 0}},
                   {builder.input({2, pair.channels, pair.height, pair.width}),
                    builder.constant(Tensor::numbers({80, pair.channels, 1, 1}, 3)),
                    builder.constant(Tensor::numbers({80}, 5))});
  const Dims strides(2, pair.stride), pads(2, pair.pad);
  builder.output(builder.node(graph::Conv{strides, {1, 1}, pads, pads, 80, {}},
                              {between, builder.constant(Tensor::numbers({80, 1, 3, 3}, 4))}));
  return builder.build();
}

// The rule has it for large images of some channels only, a record wherever it is the faster.
TEST_F(Tuning, OneStepForTwoConvolutionsComputesTheSameForAnySize) {
  for (const SmallPair& pair :
       {SmallPair{16, 7, 7, 1, 1}, SmallPair{5, 3, 3, 1, 0}, SmallPair{1, 1, 1, 1, 1},
        SmallPair{40, 1, 11, 2, 1}, SmallPair{33, 2, 1, 1, 1}}) {
    SCOPED_TRACE(::testing::Message() << pair.channels << " of " << pair.height << "x" << pair.width
                                      << ", stride " << pair.stride << ", pad " << pair.pad);
    const Tensor image = Tensor::numbers({2, pair.channels, pair.height, pair.width}, 9);
    setenv("MILLRACE_TUNE", "1", 1);
    load(pair_network(pair));
    unsetenv("MILLRACE_TUNE");
    favour("blocked");
    const Tensor expected = run_model(pair_network(pair), {image});
    favour("separable");
    const bool has_step = text().find("separable") != std::string::npos;
    EXPECT_EQ(count_steps(*load(pair_network(pair)), "Conv"), has_step ? 1U : 2U);
    expect_close(run_model(pair_network(pair), {image}), expected, 1e-5);
    std::filesystem::remove(record_);
  }
}

// Its step with channels innermost is the device's own, whichever the library would choose.
TEST_F(Tuning, DepthwiseConvolutionsInBf16AreMeasuredAsTheyRun) {
  ModelBuilder builder(Precision::kBf16);
  builder.output(builder.node(
      graph::Conv{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 64, {}},
      {builder.input({1, 64, 14, 14}), builder.constant(Tensor::numbers({64, 1, 3, 3}, 4))}));
  const auto model = builder.build();
  setenv("MILLRACE_TUNE", "1", 1);
  load(model);
  unsetenv("MILLRACE_TUNE");
  if (text().find("millrace:depthwise") == std::string::npos)
    GTEST_SKIP() << "this processor computes in FP32";
  EXPECT_EQ(text().find("\tlibrary\t"), std::string::npos);
  favour("channels-last");
  const auto program = load(model);
  EXPECT_EQ(implementations(*program), std::vector<std::string>{"Conv millrace:depthwise"});
  EXPECT_THAT(reasons(*program), Each(HasSubstr("channels-last 0.0 us (acdb to acdb, "
                                                "millrace:depthwise)")));
}

// A network of so many products that two lanes share them.
std::shared_ptr<const graph::CompiledModel> divided_network() {
  ModelBuilder builder;
  ValueId x = builder.input({1, 64, 56, 56});
  for (const uint32_t seed : {1, 2})
    x = builder.node(graph::Conv{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, {}},
                     {x, builder.constant(Tensor::numbers({64, 64, 3, 3}, seed))});
  builder.output(x);
  return builder.build();
}

TEST_F(Tuning, TimesAreThoseOfTheLanesThatAJobHas) {
  const auto device = open_device("cpu", {.lanes = 2}).value();
  if (device->lanes().count() < 2) GTEST_SKIP() << "an earlier test has opened it with one lane";
  const auto load_on = [&](const char* lanes) {
    setenv("MILLRACE_LANES_PER_JOB", lanes, 1);
    const auto program = device->load(divided_network()).value();
    unsetenv("MILLRACE_LANES_PER_JOB");
    return reasons(*program);
  };
  setenv("MILLRACE_TUNE", "1", 1);
  EXPECT_THAT(load_on("1"), Each(HasSubstr("measured here")));
  unsetenv("MILLRACE_TUNE");
  EXPECT_THAT(text(), HasSubstr("\nlanes\t1\n"));
  EXPECT_THAT(text(), Not(HasSubstr("\nlanes\t2\n")));
  {
    test::LogCapture log;
    EXPECT_THAT(load_on("2"), Each(Not(HasSubstr("measured here"))));
    EXPECT_EQ(log.count("it lacks times of operators run by 2 lanes"), 1U);
  }
  setenv("MILLRACE_TUNE", "1", 1);
  EXPECT_THAT(load_on("2"), Each(HasSubstr("measured here")));
  unsetenv("MILLRACE_TUNE");
  EXPECT_THAT(text(), HasSubstr("\nlanes\t2\n"));
  EXPECT_THAT(load_on("1"), Each(HasSubstr("measured here")));
}

TEST_F(Tuning, ARecordOfTheFirstVersionIsThatOfOneLane) {
  const auto measured = load_measuring();
  std::string times = text();
  const auto replace = [&times](const std::string& from, const std::string& to) {
    times.replace(times.find(from), from.size(), to);
  };
  replace("millrace-tuning 2", "millrace-tuning 1");
  replace("\nlanes\t1\n", ", 1 thread\n");
  write(times);
  EXPECT_EQ(reasons(*load(network())), reasons(*measured));
}

// If nothing was measured, the device says so, and loads the same program each time.
TEST_F(Tuning, WithoutARecordTheReasonIsTheRule) {
  unsetenv("MILLRACE_TUNING");
  const auto program = load(network());
  EXPECT_THAT(reasons(*program), Each(HasSubstr("by rule: no measured times are used")));
  EXPECT_THAT(choices(*program), Each(KernelChoice::kRule));
  const auto again = load(network());
  EXPECT_EQ(implementations(*again), implementations(*program));
  EXPECT_EQ(reasons(*again), reasons(*program));
}

// Plans leave out convolutions whose weights are computed, and all other operators.
TEST_F(Tuning, AStepThatIsNotPlannedHadNoChoice) {
  ModelBuilder builder;
  const ValueId weights = builder.input({8, 8, 3, 3});
  const ValueId y = builder.node(graph::Conv{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, {}},
                                 {builder.input({1, 8, 10, 10}), weights});
  builder.output(builder.node(graph::Concat{1}, {y, y}));
  const auto model = builder.build();
  const auto expect_no_choice = [&](const char* measure) {
    setenv("MILLRACE_TUNE", measure, 1);
    const ProgramInfo info = load(model)->info();
    EXPECT_EQ(std::ranges::count(info.steps, "Conv", &StepInfo::operation), 1);
    for (const StepInfo& step : info.steps)
      EXPECT_EQ(step.chosen_by, KernelChoice::kOnlyOne) << step.operation;
  };
  expect_no_choice("1");
  unsetenv("MILLRACE_TUNING");
  expect_no_choice("0");
}

class WithoutTimes : public Tuning {
 protected:
  void expect_usual_kernels(const std::string& reason) {
    test::LogCapture log;
    const auto program = load(network());
    EXPECT_THAT(reasons(*program), Each(Not(HasSubstr("measured here"))));
    EXPECT_EQ(log.count(reason), 1U) << ::testing::PrintToString(log.lines());
    unsetenv("MILLRACE_TUNING");
    EXPECT_EQ(implementations(*program), implementations(*load(network())));
  }
};

TEST_F(WithoutTimes, AnotherProcessorsRecordIsNotUsed) {
  load_measuring();
  std::string times = text();
  times.replace(times.find("fingerprint\t"), 12, "fingerprint\tanother ");
  write(times);
  expect_usual_kernels("its times are those of \"another ");
}

TEST_F(WithoutTimes, AnotherProcessorsRecordIsNotReplaced) {
  load_measuring();
  std::string times = text();
  times.replace(times.find("fingerprint\t"), 12, "fingerprint\tanother ");
  write(times);
  setenv("MILLRACE_TUNE", "1", 1);
  expect_usual_kernels("its times are those of \"another ");
  EXPECT_EQ(text(), times);
}

TEST_F(WithoutTimes, ADamagedRecordIsNotUsed) {
  write("millrace-tuning 1\nfingerprint\tx\nmove\t7\n");
  expect_usual_kernels("line 3 makes no sense");
}

// It names one step for two convolutions where there is one, in one line or in all.
TEST_F(WithoutTimes, ARecordWithAStepForAPairThatIsNoneIsNotUsed) {
  load_measuring();
  const std::string times = text(), form = "\tblocked\t";
  std::string one = times, all = times;
  one.replace(one.find(form), form.size(), "\tseparable\t");
  for (size_t i = 0; (i = all.find(form, i)) != std::string::npos;)
    all.replace(i, form.size(), "\tseparable\t");
  unsetenv("MILLRACE_TUNING");
  const Tensor expected = run_model(network(), {picture()});
  for (const std::string& each : {one, all}) {
    write(each);
    setenv("MILLRACE_TUNING", record_.c_str(), 1);
    expect_close(run_model(network(), {picture()}), expected, 0);
    setenv("MILLRACE_TUNING", record_.c_str(), 1);
    expect_usual_kernels("makes no sense");
  }
}

TEST_F(WithoutTimes, APairWithoutAKernelIsNamed) {
  setenv("MILLRACE_TUNE", "1", 1);
  load(separable_network());
  unsetenv("MILLRACE_TUNE");
  const std::string form = "\tseparable\t";
  std::string times = text();
  const size_t begin = times.find(form);
  if (begin == std::string::npos) GTEST_SKIP() << "this processor has no such step";
  times.erase(begin, times.find('\n', begin) - begin);
  write(times);
  test::LogCapture log;
  load(separable_network());
  EXPECT_EQ(log.count("it lacks times of f32 1x16x48x48 by"), 1U)
      << ::testing::PrintToString(log.lines());
}

TEST_F(WithoutTimes, AMissingRecordIsNotUsed) {
  expect_usual_kernels("does not have all operators");
}

TEST_F(WithoutTimes, AFolderIsNoRecord) {
  setenv("MILLRACE_TUNING", folder_.file("").c_str(), 1);
  expect_usual_kernels("it is no regular file");
}

TEST_F(WithoutTimes, ARecordThatCannotBeWrittenIsReported) {
  setenv("MILLRACE_TUNING", folder_.file("missing/folder").c_str(), 1);
  setenv("MILLRACE_TUNE", "1", 1);
  expect_usual_kernels("usual kernels");
}

TEST_F(WithoutTimes, ASwitchThatIsNoneIsReported) {
  setenv("MILLRACE_TUNE", "perhaps", 1);
  expect_usual_kernels("MILLRACE_TUNE is \"perhaps\"");
}

}  // namespace
}  // namespace millrace::device::cpu
