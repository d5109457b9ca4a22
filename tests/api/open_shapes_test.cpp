// Jobs that state the dimensions of their inputs and learn those of their outputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "millrace/millrace.hpp"
#include "tests/support/temporary_directory.h"
#include "tests/support/tiny_model.h"

namespace millrace::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::chrono::minutes kLong{5};

TensorShape shape(std::initializer_list<uint32_t> dims) {
  TensorShape made{.rank = static_cast<uint32_t>(dims.size())};
  std::ranges::copy(dims, made.dims.begin());
  return made;
}

// One job's tensors: [rows,3] in, and what the plugin of tests/support/open_plugin.cpp makes of it.
class Tensors {
 public:
  Tensors(std::vector<float> elements, size_t room)
      : elements_(std::move(elements)),
        in_shape_(shape({static_cast<uint32_t>(elements_.size() / 3), 3})),
        result_(room) {
    input_ = TensorArg(std::span(elements_));
    input_.shape = &in_shape_;
    output_ = TensorArg(std::span(result_));
    output_.shape = &out_shape_;
  }

  JobArgs args() const { return {.inputs = {&input_, 1}, .outputs = {&output_, 1}}; }
  TensorArg& input() { return input_; }
  TensorArg& output() { return output_; }
  TensorShape& in_shape() { return in_shape_; }
  const TensorShape& out_shape() const { return out_shape_; }
  const std::vector<float>& result() const { return result_; }

 private:
  std::vector<float> elements_;
  TensorShape in_shape_;
  TensorShape out_shape_ = shape({9, 9, 9});
  std::vector<float> result_;
  TensorArg input_, output_;
};

class OpenShapes : public ::testing::Test {
 protected:
  OpenShapes() : model_(load({.batch_size = 2})) {}
  ~OpenShapes() override { unsetenv("MILLRACE_PLUGIN_DIR"); }

  Model load(const TinyModelOptions& options) {
    const std::string path = directory_.file("tiny.rai");
    EXPECT_TRUE(write_tiny_model(path, options).ok());
    return device_.load(path).value();
  }
  Status execute(Tensors& tensors) { return unit_.execute(model_, tensors.args()); }

 private:
  static Device open_device() {
    setenv("MILLRACE_PLUGIN_DIR", MILLRACE_OPEN_PLUGIN_DIR, 1);
    return Device::open("open").value();
  }
  const TemporaryDirectory directory_;

 protected:
  Device device_ = open_device();
  const Model model_;
  Unit unit_ = device_.create_unit({.depth = 4}).value();
};

TEST_F(OpenShapes, AModelTellsWhichOfItsDimensionsAreOpen) {
  const ViewInfo& input = model_.inputs()[0].cpu;
  EXPECT_TRUE(input.is_open);
  EXPECT_THAT(input.shape, ElementsAre(kOpenDimension, 3u));
  EXPECT_EQ(input.elements, 0u);
  EXPECT_EQ(input.bytes, 0u);
  EXPECT_FALSE(model_.inputs()[0].hw.has_value());
  EXPECT_TRUE(model_.outputs()[0].cpu.is_open);
  EXPECT_THAT(model_.outputs()[0].cpu.shape, ElementsAre()) << "of any rank";
}

TEST_F(OpenShapes, EachJobHasItsOwn) {
  Tensors one({1, 0, 3}, 8), two({0, 5, 0, 7, 0, 9}, 8);
  EXPECT_TRUE(execute(one).ok());
  Job job = unit_.submit(model_, two.args()).value();
  EXPECT_TRUE(job.wait().ok());
  EXPECT_EQ(one.out_shape(), shape({2}));
  EXPECT_THAT(std::span(one.result()).first(2), ElementsAre(2, 6));
  EXPECT_EQ(two.out_shape(), shape({3}));
  EXPECT_THAT(std::span(two.result()).first(3), ElementsAre(10, 14, 18));
}

TEST_F(OpenShapes, ShapesOfInputsAreReadWhenAJobIsSubmitted) {
  Tensors blocker({-2, 0, 0}, 1), tensors({1, 2, 3}, 8);
  Job first = unit_.submit(model_, blocker.args()).value();
  Job second = unit_.submit(model_, tensors.args()).value();
  tensors.in_shape() = shape({0xfffffff0u, 3});
  EXPECT_TRUE(first.cancel(kLong).ok());
  EXPECT_TRUE(second.wait().ok());
  EXPECT_EQ(tensors.out_shape(), shape({3}));
}

TEST_F(OpenShapes, AnOutputThatIsTooSmallTellsWhatItTakes) {
  Tensors small({1, 2, 3}, 2);
  const Status status = execute(small);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("12 bytes"), HasSubstr("has 8")));
  EXPECT_EQ(small.out_shape(), shape({3})) << "so that the caller can submit again";

  Tensors none({1, 2, 3}, 0);
  none.output().data = nullptr;
  EXPECT_EQ(execute(none).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(none.out_shape(), shape({3}));
}

TEST_F(OpenShapes, AJobThatFailsBeforeStatesNoDimensions) {
  Tensors tensors({-1, 2, 3}, 8);
  EXPECT_FALSE(execute(tensors).ok());
  EXPECT_EQ(tensors.out_shape(), shape({}));
}

TEST_F(OpenShapes, AJobThatWasNeverRunLeavesTheShapeAsItWas) {
  Tensors blocker({-2, 0, 0}, 1), tensors({1, 2, 3}, 8);
  Job first = unit_.submit(model_, blocker.args()).value();
  Job second = unit_.submit(model_, tensors.args()).value();
  EXPECT_TRUE(second.cancel(kLong).ok());
  EXPECT_TRUE(first.cancel(kLong).ok());
  EXPECT_EQ(second.wait().code(), StatusCode::kCancelled);
  EXPECT_EQ(tensors.out_shape(), shape({9, 9, 9}));
  static_cast<void>(first.wait());
}

TEST_F(OpenShapes, EmptyTensorsNeedNoMemory) {
  Tensors empty({}, 0);
  empty.input().data = nullptr;
  empty.output().data = nullptr;
  EXPECT_TRUE(execute(empty).ok());
  EXPECT_EQ(empty.out_shape(), shape({0}));
}

TEST_F(OpenShapes, TheShapeOfAnOutputNeedNotBeWanted) {
  Tensors tensors({1, 2, 3}, 8);
  tensors.output().shape = nullptr;
  EXPECT_TRUE(execute(tensors).ok());
  EXPECT_EQ(tensors.result()[2], 6);
}

TEST_F(OpenShapes, EveryFrameHasItsOwn) {
  Tensors one({1, 0, 3}, 8), two({4, 5, 6, 7, 8, 9}, 8);
  const std::array inputs = {one.input(), two.input()};
  const std::array outputs = {one.output(), two.output()};
  EXPECT_TRUE(unit_.execute(model_, {.inputs = inputs, .outputs = outputs, .frames = 2}).ok());
  EXPECT_EQ(one.out_shape(), shape({2}));
  EXPECT_EQ(two.out_shape(), shape({6}));
  EXPECT_EQ(two.result()[5], 18);
}

TEST_F(OpenShapes, SeveralJobsAreSubmittedAtOnce) {
  Tensors one({1, 0, 3}, 8), two({4, 5, 6}, 8);
  const std::array args = {one.args(), two.args()};
  std::array<Job, 2> jobs;
  ASSERT_TRUE(unit_.submit_n(model_, args, jobs).ok());
  EXPECT_TRUE(jobs[0].wait().ok() && jobs[1].wait().ok());
  EXPECT_EQ(one.out_shape(), shape({2}));
  EXPECT_EQ(two.out_shape(), shape({3}));
}

TEST_F(OpenShapes, StrictJobsRunSinceNothingIsConverted) {
  Tensors tensors({1, 2, 3}, 8);
  JobArgs args = tensors.args();
  args.strict_zero_copy = true;
  EXPECT_TRUE(unit_.execute(model_, args).ok());
}

struct Refused {
  const char* name;
  void (*change)(Tensors&);
  const char* reason;
};

class OpenShapesRefused : public OpenShapes, public ::testing::WithParamInterface<Refused> {};

TEST_P(OpenShapesRefused, WithTheReasonAndNothingIsSubmitted) {
  Tensors tensors({1, 2, 3}, 8);
  GetParam().change(tensors);
  const Result<Job> job = unit_.submit(model_, tensors.args());
  EXPECT_EQ(job.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(job.status().message(), HasSubstr(GetParam().reason));
  EXPECT_EQ(tensors.out_shape(), shape({9, 9, 9}));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, OpenShapesRefused,
    ::testing::Values(
        Refused{"NoShape", [](Tensors& t) { t.input().shape = nullptr; }, "does not state"},
        Refused{"OtherRank", [](Tensors& t) { t.in_shape() = shape({3}); }, "takes [?,3]"},
        Refused{"OtherDimension",
                [](Tensors& t) {
                  t.in_shape() = shape({1, 2});
                },
                "[1,2]"},
        Refused{"StillOpen",
                [](Tensors& t) {
                  t.in_shape() = shape({kOpenDimension, 3});
                },
                "shape [?,3]"},
        Refused{"RankHuge", [](Tensors& t) { t.in_shape().rank = 4000000000u; }, "4000000000"},
        Refused{"MoreThanTheMemory",
                [](Tensors& t) {
                  t.in_shape() = shape({2, 3});
                },
                "takes 24 bytes"},
        Refused{"Overflow",
                [](Tensors& t) {
                  t.in_shape() = shape({0xfffffffeu, 3});
                },
                "takes"},
        Refused{"NullInput", [](Tensors& t) { t.input().data = nullptr; }, "no memory"},
        Refused{"NullOutput", [](Tensors& t) { t.output().data = nullptr; }, "no memory"},
        Refused{"NoHwView", [](Tensors& t) { t.output().view = View::kHw; }, "no HW view"}),
    [](const auto& info) { return info.param.name; });

// A static model says nothing new: shapes may be given, and must be right.
TEST_F(OpenShapes, StaticTensorsMayHaveAShape) {
  Device null = Device::open("null").value();
  const TemporaryDirectory directory;
  ASSERT_TRUE(write_tiny_model(directory.file("tiny.rai")).ok());
  const Model model = null.load(directory.file("tiny.rai")).value();
  Unit unit = null.create_unit({.depth = 1}).value();
  const Buffer in = Buffer::allocate(model.inputs()[0].cpu.bytes).value();
  const Buffer out = Buffer::allocate(model.outputs()[0].cpu.bytes).value();
  TensorArg input(in), output(out);
  TensorShape given = shape({1, 3, 4, 4}), stated;
  input.shape = &given;
  output.shape = &stated;
  const JobArgs args{.inputs = {&input, 1}, .outputs = {&output, 1}};
  EXPECT_TRUE(unit.execute(model, args).ok());
  EXPECT_EQ(stated, shape({1, 10, 4, 4}));
  given = shape({1, 3, 4, 5});
  const Status other = unit.execute(model, args);
  EXPECT_EQ(other.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(other.message(), HasSubstr("[1,3,4,5]"));
}

}  // namespace
}  // namespace millrace::test
