// Tensors are bound by their index in a call: the warnings about one that does not look like the
// model's tensor of that index.
#include <gmock/gmock.h>

#include "tests/support/log_capture.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Lines = std::vector<std::string>;

// Passes tensors of a given description for the model's, three times each; each tensor that does
// not match is one line per runner.
class TensorWarningsTest : public RunnerTest {
 protected:
  using Change = void (*)(NpuTensorInfo&);

  Lines warnings(Change input, Change output) {
    const test::LogCapture log(LogLevel::kWarning);
    const std::shared_ptr<Runner> runner = make_runner();
    Tensors in = {{changed(*runner, TensorDirection::INPUT, input)}};
    Tensors out = {{changed(*runner, TensorDirection::OUTPUT, output)}};
    for (int i = 0; i < 3; ++i) EXPECT_EQ(runner->execute(in, out), StatusCode::SUCCESS);
    return log.lines();
  }
  static NpuTensor changed(Runner& runner, TensorDirection direction, Change change) {
    NpuTensorInfo info = runner.get_tensors_info(direction, TensorType::HW)[0];
    info.size_in_bytes = 4096;
    change(info);
    return runner.allocate_npu_tensor(info);
  }
  static void nothing(NpuTensorInfo&) {}
};

TEST_F(TensorWarningsTest, WarnsOfATensorThatIsDescribedOtherwise) {
  const Change type = [](NpuTensorInfo& info) { info.data_type = ::vart::DataType::INT8; };
  const Change layout = [](NpuTensorInfo& info) {
    info.memory_layout = ::vart::MemoryLayout::NHWC4;
  };
  EXPECT_THAT(warnings(type, nothing),
              ElementsAre(AllOf(HasSubstr("\"data\""), HasSubstr("INT8 HCWNC4"),
                                HasSubstr("FLOAT32 HCWNC4"), HasSubstr("logged once"))));
  EXPECT_THAT(warnings(nothing, layout),
              ElementsAre(AllOf(HasSubstr("\"probs\""), HasSubstr("FLOAT32 NHWC4"),
                                HasSubstr("FLOAT32 HCWNC8"))));
  EXPECT_THAT(warnings(type, layout), SizeIs(2));
  EXPECT_THAT(warnings(nothing, nothing), IsEmpty());
}

TEST_F(TensorWarningsTest, WarnsOfAViewThatDoesNotExist) {
  const Change view = [](NpuTensorInfo& info) { info.tensor_type = static_cast<TensorType>(5); };
  EXPECT_THAT(warnings(nothing, view),
              ElementsAre(AllOf(HasSubstr("tensor_type 5"), HasSubstr("\"probs\""))));
}

TEST_F(TensorWarningsTest, WarnsOfAnInputThatIsOverwrittenNotOfAnOutputThatIsRead) {
  const Change input = [](NpuTensorInfo& info) {
    info.name = "data";
    info.direction = TensorDirection::INPUT;
  };
  const Change output = [](NpuTensorInfo& info) {
    info.name = "probs";
    info.direction = TensorDirection::OUTPUT;
  };
  EXPECT_THAT(warnings(nothing, input),
              ElementsAre(AllOf(HasSubstr("input tensor \"data\""), HasSubstr("\"probs\""),
                                HasSubstr("overwritten"))));
  EXPECT_THAT(warnings(output, nothing), IsEmpty());
}

TEST_F(TensorWarningsTest, WarnsOfATensorThatIsCalledOtherwiseOncePerRunner) {
  const test::LogCapture log(LogLevel::kWarning);
  for (int runners = 0; runners < 2; ++runners) {
    const std::shared_ptr<Runner> runner = make_runner();
    NpuTensorInfo info = runner->get_tensors_info(TensorDirection::INPUT, TensorType::HW)[0];
    info.name = "picture";
    Tensors in = {{runner->allocate_npu_tensor(info)}}, out = outputs(*runner);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(runner->execute(in, out), StatusCode::SUCCESS);
  }
  EXPECT_EQ(log.count("\"picture\" is passed where \"data\" is expected"), 2u);
  EXPECT_EQ(log.lines().size(), 2u);
}

}  // namespace
}  // namespace millrace::vartml
