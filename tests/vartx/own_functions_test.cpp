// A pipeline whose preprocessing and postprocessing are the program's own, with a runner between
// them: the first writes what the model reads, and the second reads what the model wrote.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "graph/archive/codec.h"
#include "model/archive_writer.h"
#include "tests/support/relu_model.h"
#include "tests/vart/runner_fixture.h"
#include "tests/vartx/postprocess_harness.h"
#include "vart/vart_preprocess.hpp"

namespace vart {
namespace {

using millrace::vartml::Options;
using millrace::vartml::Tensors;
using ::testing::ElementsAre;

constexpr size_t kEdge = 4;  // pixels of a picture, which is as large as the model's input
constexpr size_t kPixels = kEdge * kEdge;

VideoInfo picture_info(VideoFormat format) {
  VideoInfo info{};
  info.width = info.height = kEdge;
  info.fmt = format;
  return info;
}

// Plane N of the output, counted from 1, gets N times what a grey pixel is above 100.
class AboveHundred : public PreProcessImplBase {
 public:
  using PreProcessImplBase::process;
  void process(std::vector<PreProcessOp>& ops) override {
    for (const PreProcessOp& op : ops) {
      const uint8_t* grey = op.in_frame->map(DataMapFlags::READ).planes[0].data;
      const VideoFrameMapInfo& out = op.out_frame->map(DataMapFlags::WRITE);
      for (size_t plane = 0; plane < out.nplanes; ++plane) {
        auto* values = reinterpret_cast<float*>(out.planes[plane].data);
        for (size_t i = 0; i < kPixels; ++i)
          values[i] = static_cast<float>(plane + 1) * (static_cast<float>(grey[i]) - 100);
      }
      op.in_frame->unmap();
      op.out_frame->unmap();
    }
  }
  void get_input_vinfo(int32_t, int32_t, VideoFormat format, VideoInfo& vinfo) override {
    vinfo = picture_info(format);
  }
  const VideoInfo& get_output_vinfo() override { return output_; }
  void set_preprocess_info(PreProcessInfo& info) override { info_ = info; }
  const PreProcessInfo& get_preprocess_info() override { return info_; }

 private:
  VideoInfo output_ = picture_info(VideoFormat::RGBP_FLOAT);
  PreProcessInfo info_{};
};

// A class whose number is that of the largest element, and its confidence the sum of all.
class LargestAndSum : public PostProcessFunctionBase {
 public:
  test::FrameResults process(const std::vector<std::vector<float>>& outputs) override {
    const std::vector<float>& values = outputs.at(0);
    auto result = std::make_shared<InferResult>(InferResultType::CLASSIFICATION);
    auto& classes = static_cast<ClassificationResData&>(*result->get_infer_result());
    classes.index = {static_cast<uint32_t>(std::ranges::max_element(values) - values.begin())};
    classes.confidence = {std::accumulate(values.begin(), values.end(), 0.0)};
    return {result};
  }
};

class OwnFunctions : public millrace::vartml::RunnerTest {
 protected:
  // A runner of a model that computes the Relu of a picture.
  std::shared_ptr<Runner> make_relu_runner() {
    use_device("cpu");
    const std::string path = directory_.file("relu.rai");
    const auto model = millrace::test::relu_model({{"image", {1, 3, kEdge, kEdge}}});
    EXPECT_TRUE(millrace::model::write_archive(millrace::graph::encode(model), path,
                                               millrace::model::ArchiveForm::kFile)
                    .ok());
    return RunnerFactory::create_runner(RunnerType::VAIML, path,
                                        Options{{"input_tensor_type", std::string("CPU")},
                                                {"output_tensor_type", std::string("CPU")}});
  }

  VideoFrame make_frame(VideoFormat format, size_t bytes) const {
    VideoInfo info = picture_info(format);
    return VideoFrame(VideoFrameImplType::XRT, bytes, uint8_t{0}, info, opened_);
  }

  const std::shared_ptr<Device> opened_ = Device::get_device_hdl(0, "");
};

TEST_F(OwnFunctions, WriteAndReadTheTensorsOfARunner) {
  const std::shared_ptr<Runner> runner = make_relu_runner();
  const auto& input = runner->get_tensors_info(TensorDirection::INPUT, TensorType::CPU).at(0);
  VideoFrame picture = make_frame(VideoFormat::GRAY8, kPixels);
  VideoFrame floats = make_frame(VideoFormat::RGBP_FLOAT, input.size_in_bytes);
  int fd = floats.export_buffer();
  const Tensors inputs = {{NpuTensor(input, &fd, MemoryType::DMA_FD)}};
  close(fd);
  Tensors outputs = allocate(*runner, TensorDirection::OUTPUT, TensorType::CPU);
  fd = outputs[0][0].export_buffer();
  const auto memory =
      std::make_shared<Memory>(MemoryImplType::XRT, fd, input.size_in_bytes, opened_);
  close(fd);

  PreProcess preprocess(std::make_shared<AboveHundred>());
  PostProcessRegistry::add("largest-and-sum", [] { return std::make_shared<LargestAndSum>(); });
  PostProcess postprocess =
      test::make_postprocess(PostProcessType::TOPK, R"({"function": "largest-and-sum"})");
  std::vector<TensorInfo> infos = {test::output_info({1, 3, kEdge, kEdge})};
  postprocess.set_config(infos, 1);
  std::vector<PreProcessOp> ops(1);
  ops[0].in_frame = &picture;
  ops[0].out_frame = &floats;

  // Only these two pixels of a dark picture stay above zero: (1 + 2 + 3) * (1 + 10) in all.
  for (const auto& [brighter, bright] : {std::pair(6, 0), std::pair(9, 15)}) {
    auto* grey = const_cast<uint8_t*>(picture.map(DataMapFlags::WRITE).planes[0].data);
    std::fill_n(grey, kPixels, uint8_t{90});
    grey[brighter] = 110;
    grey[bright] = 101;
    picture.unmap();
    preprocess.process(ops);
    ASSERT_EQ(runner->execute(inputs, outputs), StatusCode::SUCCESS);
    const auto results = postprocess.process({{memory}}, 1);
    const ClassificationResData& found = test::classes(results.at(0).at(0));
    EXPECT_THAT(found.index, ElementsAre(2 * kPixels + static_cast<size_t>(brighter)));
    EXPECT_THAT(found.confidence, ElementsAre(66.0));
  }
}

}  // namespace
}  // namespace vart
