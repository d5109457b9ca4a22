// How programs hand tensors to PostProcess, and what is refused.
#include "vart/vart_postprocess.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/vartx/postprocess_harness.h"
#include "tests/vartx/thrown_reason.h"

namespace vart {
namespace {

using test::reason;
using Pointers = std::vector<int8_t*>;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::shared_ptr<Device> kDevice = Device::get_device_hdl(0, "");

std::shared_ptr<Memory> memory_of(const std::vector<int8_t>& bytes) {
  auto memory = std::make_shared<Memory>(MemoryImplType::XRT, bytes.size(), uint8_t{0}, kDevice);
  auto* data = const_cast<uint8_t*>(memory->map(DataMapFlags::WRITE));
  std::copy(bytes.begin(), bytes.end(), data);
  return memory;
}

std::string config_reason(TensorInfo info, uint32_t batch = 1) {
  return reason([&] {
    PostProcess function = test::make_postprocess(PostProcessType::TOPK, "");
    std::vector<TensorInfo> infos = {std::move(info)};
    function.set_config(infos, batch);
  });
}

std::string json_reason(const std::string& json, PostProcessType type = PostProcessType::TOPK) {
  return reason([&] { test::make_postprocess(type, json); });
}

TEST(PostProcess, BothFormsGiveTheFramesInOrder) {
  const std::vector<int8_t> first = {1, 9, 3}, second = {-1, -9, -3};
  std::vector<TensorInfo> infos = {test::input_info({1, 3, 8, 8}),
                                   test::output_info({1, 3}, TensorDataType::INT8, 0.5F)};
  PostProcess function = test::make_postprocess(PostProcessType::TOPK, R"({"topk": "2"})");
  function.set_config(infos, 4);
  const auto pointers = function.process(Pointers{test::address(first), test::address(second)}, 2);
  std::vector<std::vector<std::shared_ptr<Memory>>> memories = {{memory_of(first)},
                                                                {memory_of(second)}};
  const auto mapped = function.process(memories, 2);
  for (const auto& results : std::vector{pointers, mapped}) {
    ASSERT_THAT(results, SizeIs(2));
    ASSERT_THAT(results[0], SizeIs(1));
    EXPECT_THAT(test::classes(results[0][0]).index, ElementsAre(1, 2));
    EXPECT_THAT(test::classes(results[0][0]).confidence, ElementsAre(4.5, 1.5));
    EXPECT_THAT(test::classes(results[0][0]).label, ElementsAre("", ""));
    EXPECT_THAT(test::classes(results[1][0]).index, ElementsAre(0, 2));
    EXPECT_THAT(results[1][0]->get_children(), IsEmpty());
    EXPECT_EQ(results[1][0]->get_infer_result()->result_type, InferResultType::CLASSIFICATION);
  }
}

TEST(PostProcess, PointersAreFrameMajor) {
  const std::vector<float> a0 = {1, 0}, b0 = {0, 1}, a1 = {0, 2}, b1 = {2, 0};
  std::vector<TensorInfo> infos = {test::output_info({1, 2}), test::output_info({1, 2})};
  PostProcess function = test::make_postprocess(PostProcessType::ARGMAX, "");
  function.set_config(infos, 2);
  const auto results = function.process(
      Pointers{test::address(a0), test::address(b0), test::address(a1), test::address(b1)}, 2);
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_EQ(test::classes(results[0][0]).index[0], 0U);
  EXPECT_EQ(test::classes(results[0][1]).index[0], 1U);
  EXPECT_EQ(test::classes(results[1][0]).index[0], 1U);
  EXPECT_EQ(test::classes(results[1][1]).index[0], 0U);
}

TEST(PostProcess, SixteenBitFloatsAreRead) {
  const std::vector<uint16_t> bf16 = {0x3f80, 0x4000}, fp16 = {0x3c00, 0x4000};
  for (const auto& [type, values] :
       {std::pair(TensorDataType::BF16, bf16), std::pair(TensorDataType::FP16, fp16)}) {
    std::vector<TensorInfo> infos = {test::output_info({1, 2}, type)};
    PostProcess function = test::make_postprocess(PostProcessType::TOPK, R"({"topk": 2})");
    function.set_config(infos, 1);
    const auto results = function.process(Pointers{test::address(values)}, 1);
    EXPECT_THAT(test::classes(results[0][0]).confidence, ElementsAre(2, 1));
  }
}

TEST(PostProcess, FramesAndTensorsThatDoNotFitAreRefused) {
  const std::vector<int8_t> bytes = {1, 2, 3};
  std::vector<TensorInfo> infos = {test::output_info({1, 3}, TensorDataType::INT8)};
  PostProcess function = test::make_postprocess(PostProcessType::TOPK, "");
  const auto pointers = [&](std::vector<int8_t*> data, uint32_t frames) {
    return reason([&] { function.process(data, frames); });
  };
  using Memories = std::vector<std::vector<std::shared_ptr<Memory>>>;
  const auto memories = [&](const Memories& given, uint32_t frames) {
    return reason([&] { function.process(given, frames); });
  };
  EXPECT_THAT(pointers({test::address(bytes)}, 1), HasSubstr("set_config"));
  function.set_config(infos, 2);
  EXPECT_THAT(pointers({test::address(bytes)}, 0), HasSubstr("0 frames"));
  EXPECT_THAT(pointers({test::address(bytes)}, 3), HasSubstr("3 frames"));
  EXPECT_THAT(pointers({test::address(bytes)}, 2), HasSubstr("1 addresses"));
  EXPECT_THAT(pointers({nullptr}, 1), HasSubstr("\"out\""));
  EXPECT_THAT(memories({}, 1), HasSubstr("0 frames of memories"));
  EXPECT_THAT(memories({{}}, 1), HasSubstr("0 memories of a frame"));
  EXPECT_THAT(memories({{nullptr}}, 1), HasSubstr("no memory"));
  EXPECT_THAT(memories({{memory_of({1, 2})}}, 1), HasSubstr("a memory has 2 bytes"));
  EXPECT_EQ(pointers({test::address(bytes)}, 1), "taken");
}

TEST(PostProcess, TensorsThatCannotBeReadAreRefused) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  TensorInfo unknown = test::output_info({1, 4});
  unknown.data_type = TensorDataType::UNKNOWN;
  TensorInfo small = test::output_info({1, 4});
  small.size = 15;
  EXPECT_THAT(config_reason(unknown), HasSubstr("data type"));
  EXPECT_THAT(config_reason(small), HasSubstr("16 bytes"));
  EXPECT_THAT(config_reason(test::output_info({})), HasSubstr("no elements"));
  EXPECT_THAT(config_reason(test::output_info({1, 0})), HasSubstr("no elements"));
  EXPECT_THAT(config_reason(test::output_info({65536, 65536, 65536})), HasSubstr("too many"));
  EXPECT_THAT(config_reason(test::output_info({4}, TensorDataType::INT8, nan)),
              HasSubstr("scale_coeff"));
  EXPECT_THAT(config_reason(test::input_info({1, 4})), HasSubstr("no output"));
  EXPECT_THAT(config_reason(test::output_info({1, 4}), 0), HasSubstr("the batch size is 0"));
}

TEST(PostProcess, ConfigurationsThatAreWrongAreRefused) {
  EXPECT_EQ(json_reason(""), "taken");
  EXPECT_THAT(json_reason("{"), HasSubstr("not valid JSON"));
  EXPECT_THAT(json_reason("[1]"), HasSubstr("must be a JSON object"));
  EXPECT_THAT(json_reason(R"({"topk": "many"})"), HasSubstr("\"topk\""));
  EXPECT_THAT(json_reason(R"({"topk": 0})"), HasSubstr("\"topk\""));
  EXPECT_THAT(json_reason(R"({"post-process-print": []})"), HasSubstr("post-process-print"));
  const auto nms = PostProcessType::NMS, temperature = PostProcessType::CALIBRATION_TEMPERATURE;
  EXPECT_THAT(json_reason(R"({"conf-threshold": 1.5})", nms), HasSubstr("conf-threshold"));
  EXPECT_THAT(json_reason(R"({"function-options": 3})", temperature),
              HasSubstr("function-options"));
  EXPECT_THAT(json_reason(R"({"function-options": {"temperature-scaling": "0"}})", temperature),
              HasSubstr("temperature-scaling"));
  EXPECT_THAT(json_reason(R"({"model-params": {"grid-shape": [[4]]}})", nms),
              HasSubstr("grid-shape"));
  EXPECT_THAT(json_reason(R"({"model-params": {"anchors": [1, 2, 3]}})", nms),
              HasSubstr("anchors"));
  EXPECT_THAT(json_reason(R"({"tensor-type": "INT4"})"), HasSubstr("none of INT8 UINT8"));
  EXPECT_THAT(json_reason(R"({"label-file-path": "/no/labels"})"), HasSubstr("/no/labels"));
  EXPECT_THAT(reason([] { test::make_postprocess(PostProcessType::UNKNOWN, ""); }),
              HasSubstr("not a known type"));
  EXPECT_THAT(reason([] { PostProcess(std::shared_ptr<PostProcessImplBase>()); }),
              HasSubstr("null"));
}

// Programs keep one text for several types.
TEST(PostProcess, KeysOfOtherTypesAreNotLookedAt) {
  const std::string detection =
      R"({"conf-threshold": 50, "nms-threshold": "high", "model-params": {"anchors": [1]}})";
  const std::string options = R"({"outlier-threshold": "x", "function-options": [1]})";
  for (const std::string& json : {detection, options}) {
    EXPECT_EQ(json_reason(json, PostProcessType::SOFTMAX), "taken");
    EXPECT_EQ(json_reason(json, PostProcessType::ARGMAXSEG), "taken");
  }
  EXPECT_EQ(json_reason(options, PostProcessType::NMS), "taken");
  EXPECT_EQ(json_reason(R"({"topk": 0})", PostProcessType::ARGMAX), "taken");
  EXPECT_EQ(json_reason(R"({"topk": 0})", PostProcessType::NMS), "taken");
  EXPECT_EQ(json_reason(R"({"nms-threshold": 7})", PostProcessType::SOFT_NMS), "taken");
  EXPECT_EQ(
      json_reason(R"({"model-params": {"is-obj-score-included": 2}})", PostProcessType::YOLOV2),
      "taken");
}

TEST(PostProcess, EmptyTextIsAsIfTheKeyWereMissing) {
  EXPECT_EQ(json_reason(R"({"topk": "", "post-process-print": " ", "tensor-type": ""})"), "taken");
}

// The published types have no UINT8: programs describe such tensors as INT8.
TEST(PostProcess, BytesAreInt8UnlessTheConfigurationSaysUint8) {
  const std::vector<uint8_t> bytes = {100, 200};
  for (const auto& [json, best] :
       {std::pair("", 0U), std::pair(R"({"tensor-type": "UINT8"})", 1U)}) {
    std::vector<TensorInfo> infos = {test::output_info({1, 2}, TensorDataType::INT8, 0.5F)};
    PostProcess function = test::make_postprocess(PostProcessType::TOPK, json);
    function.set_config(infos, 1);
    const auto results = function.process(Pointers{test::address(bytes)}, 1);
    EXPECT_THAT(test::classes(results[0][0]).index, ElementsAre(best));
    EXPECT_THAT(test::classes(results[0][0]).confidence, ElementsAre(best == 0 ? 50 : 100));
  }
}

TEST(PostProcess, PrintsOnlyWhenTheConfigurationAsks) {
  const std::vector<TensorInfo> infos = {test::output_info({1, 2})};
  testing::internal::CaptureStdout();
  test::run(PostProcessType::TOPK, R"({"post-process-print": "false"})", infos, {{1, 2}});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  testing::internal::CaptureStdout();
  test::run(PostProcessType::TOPK, R"({"post-process-print": "true"})", infos, {{1, 2}});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "frame 0: class 1 \"\" 2\n");
}

}  // namespace
}  // namespace vart
