// Memories, frames and functions of the program's own kind work where those of the library do.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <stdexcept>

#include "tests/support/log_capture.h"
#include "tests/support/temporary_directory.h"
#include "tests/vartx/postprocess_harness.h"
#include "tests/vartx/thrown_reason.h"
#include "vart/vart_memory_impl_vvas.hpp"
#include "vart/vart_preprocess.hpp"
#include "vart/vart_videoframe_impl_xrt.hpp"

namespace vart {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::shared_ptr<Device> opened_device() {
  return Device::get_device_hdl(0, "");
}

// Bytes that count how often they are mapped.
class CountedMemory : public MemoryImplBase {
 public:
  explicit CountedMemory(std::vector<uint8_t> content) : bytes(std::move(content)) {}

  const uint8_t* map(DataMapFlags) override {
    ++maps;
    return bytes.data();
  }
  void unmap() override {
    --maps;
    if (fails) throw std::runtime_error("the bus is gone");
  }
  size_t get_size() override { return bytes.size(); }
  uint64_t get_physical_addr() override { return 0; }
  std::shared_ptr<Device> get_device_handle() const override { return nullptr; }

  std::vector<uint8_t> bytes;
  int maps = 0;
  bool fails = false;
};

TEST(OwnMemory, IsReadByPostprocessing) {
  const auto own = std::make_shared<CountedMemory>(std::vector<uint8_t>{1, 9, 2});
  const auto memory = std::make_shared<Memory>(own);
  EXPECT_EQ(memory->get_pimpl_handle(), own);
  EXPECT_LT(memory->export_buffer(), 0);
  PostProcess best = test::make_postprocess(PostProcessType::TOPK, "");
  std::vector<TensorInfo> infos = {test::output_info({1, 3}, TensorDataType::INT8)};
  best.set_config(infos, 1);
  EXPECT_THAT(test::classes(best.process({{memory}}, 1)[0][0]).index, ElementsAre(1U));
  EXPECT_EQ(own->maps, 0);
  own->fails = true;
  const millrace::test::LogCapture log;
  EXPECT_THAT(test::classes(best.process({{memory}}, 1)[0][0]).index, ElementsAre(1U));
  EXPECT_EQ(log.count("the bus is gone"), 1U);
}

TEST(OwnMemory, TheDefaultOneIsMadeByItsClassToo) {
  auto impl =
      std::make_shared<MemoryImplVvas>(MemoryImplType::XRT, size_t{8}, uint8_t{0}, opened_device());
  Memory memory(impl);
  EXPECT_EQ(memory.get_size(), 8U);
  EXPECT_EQ(memory.map(DataMapFlags::READ), impl->map(DataMapFlags::READ));
  EXPECT_NE(memory.get_physical_addr(), 0U);
  EXPECT_EQ(memory.get_device_handle(), opened_device());
  Memory other(MemoryImplType::NON_CMA, size_t{8}, uint8_t{0}, opened_device());
  EXPECT_NE(std::dynamic_pointer_cast<MemoryImplVvas>(other.get_pimpl_handle()), nullptr);
}

TEST(OwnMemory, TheClassOfTheDefaultOneTakesPointersAndDescriptorsToo) {
  std::vector<uint8_t> bytes = {1, 2, 3};
  MemoryImplVvas wrapping(MemoryImplType::NON_CMA, bytes.data(), bytes.size(), opened_device());
  EXPECT_EQ(wrapping.map(DataMapFlags::READ), bytes.data());
  EXPECT_EQ(wrapping.get_size(), 3U);
  EXPECT_EQ(wrapping.get_physical_addr(), 0U);
  EXPECT_LT(wrapping.export_buffer(), 0);
  MemoryImplVvas exporting(MemoryImplType::XRT, size_t{8}, uint8_t{0}, opened_device());
  const int fd = exporting.export_buffer();
  MemoryImplVvas importing(MemoryImplType::XRT, fd, size_t{8}, opened_device());
  close(fd);
  const_cast<uint8_t*>(exporting.map(DataMapFlags::WRITE))[7] = 5;
  EXPECT_EQ(importing.map(DataMapFlags::READ)[7], 5);
  EXPECT_EQ(importing.get_size(), 8U);
  EXPECT_EQ(importing.get_device_handle(), opened_device());
}

// A picture of GRAY8 whose rows are longer than its width, and begin late.
class PaddedFrame : public VideoFrameImplBase {
 public:
  PaddedFrame(int32_t width, int32_t height, size_t row, size_t first)
      : bytes_(first + row * static_cast<size_t>(height)) {
    info_.width = mapped_.width = width;
    info_.height = mapped_.height = height;
    info_.fmt = mapped_.fmt = VideoFormat::GRAY8;
    mapped_.nplanes = 1;
    mapped_.planes[0].data = bytes_.data();
    mapped_.planes[0].size = bytes_.size();
    mapped_.planes[0].offset = first;
    mapped_.planes[0].stride = static_cast<int32_t>(row);
  }
  uint8_t& pixel(size_t x, size_t y) {
    const VideoPlaneInfo& plane = mapped_.planes[0];
    return bytes_[plane.offset + y * static_cast<size_t>(plane.stride) + x];
  }
  VideoFrameMapInfo& description() { return mapped_; }
  int open_maps() const { return maps_; }

  const VideoFrameMapInfo& map(DataMapFlags) override {
    ++maps_;
    return mapped_;
  }
  void unmap() override { --maps_; }
  const VideoInfo& get_video_info() const override { return info_; }
  std::shared_ptr<Device> get_device_handle() const override { return nullptr; }

 private:
  std::vector<uint8_t> bytes_;
  VideoInfo info_{};
  VideoFrameMapInfo mapped_{};
  int maps_ = 0;
};

class OwnFrame : public ::testing::Test {
 protected:
  void process() {
    VideoFrame in(source_);
    VideoFrame out(target_);
    std::string json;
    PreProcess copy(PreProcessImplType::IMAGE_PROCESSING_SW, json, opened_device());
    std::vector<PreProcessOp> ops(1);
    ops[0].in_frame = &in;
    ops[0].out_frame = &out;
    copy.process(ops);
  }

  const std::shared_ptr<PaddedFrame> source_ = std::make_shared<PaddedFrame>(4, 2, 7, 3);
  const std::shared_ptr<PaddedFrame> target_ = std::make_shared<PaddedFrame>(4, 2, 5, 1);
};

TEST_F(OwnFrame, IsPreprocessedRowByRow) {
  for (size_t y = 0; y < 2; ++y)
    for (size_t x = 0; x < 4; ++x) source_->pixel(x, y) = static_cast<uint8_t>(10 * y + x);
  process();
  for (size_t y = 0; y < 2; ++y)
    for (size_t x = 0; x < 4; ++x) EXPECT_EQ(target_->pixel(x, y), 10 * y + x);
  EXPECT_EQ(source_->open_maps(), 0);
}

TEST_F(OwnFrame, IsRefusedWithTooLittleMemory) {
  VideoPlaneInfo& plane = source_->description().planes[0];
  const VideoPlaneInfo whole = plane;
  plane.size = 3 + 7 + 3;
  EXPECT_THAT(test::reason([&] { process(); }), HasSubstr("plane 0"));
  plane = whole;
  plane.stride = 3;
  EXPECT_THAT(test::reason([&] { process(); }), HasSubstr("plane 0"));
  plane.stride = -7;
  EXPECT_THAT(test::reason([&] { process(); }), HasSubstr("plane 0"));
  plane = whole;
  plane.data = nullptr;
  EXPECT_THAT(test::reason([&] { process(); }), HasSubstr("plane 0"));
  plane = whole;
  source_->description().nplanes = 0;
  EXPECT_THAT(test::reason([&] { process(); }), HasSubstr("0 planes"));
  EXPECT_EQ(source_->open_maps(), 0);
}

TEST_F(OwnFrame, ThatOfTheDeviceIsMadeByItsClassToo) {
  VideoInfo info{};
  info.width = 4;
  info.height = 2;
  info.fmt = VideoFormat::BGR;
  auto impl = std::make_shared<VideoFrameImplXRT>(size_t{24}, uint8_t{0}, info, opened_device());
  VideoFrame frame(impl);
  EXPECT_EQ(frame.map(DataMapFlags::WRITE).planes[0].stride, 12);
  EXPECT_NE(frame.map(DataMapFlags::READ).planes[0].phy_addr, 0U);
  VideoFrame made(VideoFrameImplType::XRT, size_t{24}, uint8_t{0}, info, opened_device());
  EXPECT_NE(std::dynamic_pointer_cast<VideoFrameImplXRT>(made.get_pimpl_handle()), nullptr);
  VideoFrame host(VideoFrameImplType::NON_CMA, size_t{24}, uint8_t{0}, info, opened_device());
  EXPECT_EQ(std::dynamic_pointer_cast<VideoFrameImplXRT>(host.get_pimpl_handle()), nullptr);
}

TEST_F(OwnFrame, TheClassOfThoseOfTheDeviceTakesPointersAndBufferObjectsToo) {
  VideoInfo info{};
  info.width = info.height = 4;
  info.fmt = VideoFormat::Y_UV8_420;
  std::vector<uint8_t> luma(16), chroma(8);
  std::vector<uint8_t*> pointers = {luma.data(), chroma.data()};
  VideoFrameImplXRT wrapping(pointers, info, opened_device());
  EXPECT_EQ(wrapping.map(DataMapFlags::READ).planes[0].data, luma.data());
  EXPECT_EQ(wrapping.map(DataMapFlags::READ).planes[1].data, chroma.data());
  EXPECT_LT(wrapping.export_buffer(), 0);

  const xrt::device device{0};
  xrt::bo first(device, 16, 0), second(device, 8, 0);
  std::vector<xrt::bo*> objects = {&first, &second};
  VideoFrameImplXRT frame(uint8_t{0}, objects, info, opened_device());
  EXPECT_EQ(frame.map(DataMapFlags::READ).planes[0].data, first.map());
  EXPECT_EQ(frame.map(DataMapFlags::READ).planes[1].phy_addr, second.address());
  EXPECT_EQ(frame.get_video_info().width, 4);
  EXPECT_EQ(frame.get_device_handle(), opened_device());
  objects = {&second};
  EXPECT_THROW(VideoFrameImplXRT(uint8_t{0}, objects, info, opened_device()),
               std::invalid_argument);
}

class CountingPreProcess : public PreProcessImplBase {
 public:
  void process(std::vector<PreProcessOp>& ops) override { processed += ops.size(); }
  void get_input_vinfo(int32_t height, int32_t width, VideoFormat format,
                       VideoInfo& vinfo) override {
    vinfo.height = height;
    vinfo.width = width;
    vinfo.fmt = format;
  }
  const VideoInfo& get_output_vinfo() override { return output_; }
  void set_preprocess_info(PreProcessInfo& info) override { info_ = info; }
  const PreProcessInfo& get_preprocess_info() override { return info_; }

  size_t processed = 0;

 private:
  VideoInfo output_{};
  PreProcessInfo info_{};
};

TEST(OwnPreProcess, DoesWhatTheProgramAsksFor) {
  const auto own = std::make_shared<CountingPreProcess>();
  PreProcess function(own);
  std::vector<PreProcessOp> ops(3);
  function.process(ops);
  std::vector<PreProcessOpRes> results(1);
  results[0].type_meta.scale_x = 5;
  function.process(ops, results);
  EXPECT_EQ(own->processed, 6U);
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results[0].type_meta.scale_x, 0);
  PreProcessInfo info{};
  info.width = 7;
  function.set_preprocess_info(info);
  EXPECT_EQ(function.get_preprocess_info().width, 7U);
  VideoInfo input{};
  function.get_input_vinfo(2, 4, VideoFormat::BGR, input);
  EXPECT_EQ(input.width, 4);
  EXPECT_EQ(function.get_output_vinfo().width, 0);
}

// Results with a class per frame: the first byte of its first output.
class FirstByte : public PostProcessImplBase {
 public:
  using PostProcessImplBase::process;
  void set_config(std::vector<TensorInfo>& info, uint32_t) override { outputs_ = info.size(); }
  std::vector<test::FrameResults> process(std::vector<int8_t*> data, uint32_t frames) override {
    std::vector<test::FrameResults> results;
    for (uint32_t frame = 0; frame < frames; ++frame) {
      auto result = std::make_shared<InferResult>(InferResultType::CLASSIFICATION);
      static_cast<ClassificationResData*>(result->get_infer_result())->index = {
          static_cast<uint32_t>(*data.at(frame * outputs_))};
      results.push_back({result});
    }
    return results;
  }

 private:
  size_t outputs_ = 0;
};

TEST(OwnPostProcess, ReadsMemoriesByTheirAddresses) {
  PostProcess function(std::make_shared<FirstByte>());
  std::vector<TensorInfo> infos = {test::output_info({1, 1}, TensorDataType::INT8)};
  function.set_config(infos, 2);
  std::vector<int8_t> bytes = {3, 4};
  const std::vector<int8_t*> addresses = {&bytes[0], &bytes[1]};
  EXPECT_THAT(test::classes(function.process(addresses, 2)[1][0]).index, ElementsAre(4U));
  const auto own = std::make_shared<CountedMemory>(std::vector<uint8_t>{5});
  const auto memory = std::make_shared<Memory>(own);
  const auto results = function.process({{memory}, {memory}}, 2);
  EXPECT_THAT(test::classes(results.at(1).at(0)).index, ElementsAre(5U));
  EXPECT_EQ(own->maps, 0);
  EXPECT_THAT(test::reason([&] { function.process({{memory}, {nullptr}}, 2); }), HasSubstr("null"));
  EXPECT_EQ(own->maps, 0);
  EXPECT_THAT(test::reason([&] { function.process({{memory}}, 2); }), HasSubstr("frames"));
}

// The sum of each output, as the confidences of a result.
class Sums : public PostProcessFunctionBase {
 public:
  void set_config(const std::string& json, const std::vector<TensorInfo>& info,
                  uint32_t batch_size) override {
    described = json + " " + info.at(0).name + " " + std::to_string(batch_size);
  }
  test::FrameResults process(const std::vector<std::vector<float>>& outputs) override {
    if (outputs.at(0).at(0) < 0) return {nullptr};
    auto result = std::make_shared<InferResult>(InferResultType::CUSTOM_RESULT_1);
    last.clear();
    for (const std::vector<float>& output : outputs)
      last.push_back(std::accumulate(output.begin(), output.end(), 0.0F));
    return {result};
  }

  static inline std::string described;
  static inline std::vector<float> last;
};

std::shared_ptr<PostProcessFunctionBase> make_sums() {
  return std::make_shared<Sums>();
}

TEST(RegisteredFunction, IsFoundByNameAndGetsFloats) {
  PostProcessRegistry::add("sums", make_sums);
  const std::string json = R"({"function": "sums", "post-process-print": "true"})";
  PostProcess function = test::make_postprocess(PostProcessType::UNKNOWN, json);
  std::vector<TensorInfo> infos = {test::output_info({1, 2}, TensorDataType::INT8, 0.5F)};
  std::vector<int8_t> bytes = {3, 4};
  EXPECT_THAT(test::reason([&] { function.process({bytes.data()}, 1); }), HasSubstr("set_config"));
  function.set_config(infos, 1);
  EXPECT_EQ(Sums::described, json + " out 1");
  const auto results = function.process({bytes.data()}, 1);
  EXPECT_THAT(Sums::last, ElementsAre(3.5F));
  EXPECT_EQ(results[0][0]->get_infer_result()->result_type, InferResultType::CUSTOM_RESULT_1);
  bytes[0] = -1;
  EXPECT_THAT(test::reason([&] { function.process({bytes.data()}, 1); }), HasSubstr("null result"));
}

TEST(RegisteredFunction, MayTakeThePlaceOfAType) {
  PostProcessRegistry::add(PostProcessType::UNCERTAINTY_ESTIMATION, make_sums);
  Sums::last.clear();
  test::run(PostProcessType::UNCERTAINTY_ESTIMATION, "", {test::output_info({1, 2})}, {{1, 2}});
  EXPECT_THAT(Sums::last, ElementsAre(3.0F));
  test::run(PostProcessType::ARGMAX, "", {test::output_info({1, 2})}, {{4, 5}});
  EXPECT_THAT(Sums::last, ElementsAre(3.0F)) << "other types stay as they are";
}

TEST(RegisteredFunction, MustHaveAMaker) {
  EXPECT_THROW(PostProcessRegistry::add("none", nullptr), std::invalid_argument);
  EXPECT_THROW(PostProcessRegistry::add("", make_sums), std::invalid_argument);
  EXPECT_THROW(PostProcessRegistry::add("a/b", make_sums), std::invalid_argument);
  PostProcessRegistry::add("nothing", [] { return nullptr; });
  EXPECT_THAT(test::reason([] {
                test::make_postprocess(PostProcessType::TOPK, R"({"function": "nothing"})");
              }),
              HasSubstr("returned null"));
}

class FunctionPlugin : public ::testing::Test {
 protected:
  ~FunctionPlugin() override { unsetenv("MILLRACE_PLUGIN_DIR"); }

  static void use_folder(const std::string& folder) {
    setenv("MILLRACE_PLUGIN_DIR", folder.c_str(), 1);
  }
  static std::string refusal(const std::string& name) {
    return test::reason(
        [&] { test::make_postprocess(PostProcessType::TOPK, "{\"function\": \"" + name + "\"}"); });
  }
};

TEST_F(FunctionPlugin, IsLoadedFromThePluginFolder) {
  use_folder(MILLRACE_TEST_PLUGIN_DIR);
  const auto results = test::run(PostProcessType::TOPK, R"({"function": "brightest"})",
                                 {test::output_info({1, 3})}, {{0.5F, 0.75F, 0.25F}});
  EXPECT_THAT(test::classes(results.at(0)).index, ElementsAre(1U));
  EXPECT_THAT(test::classes(results.at(0)).label, ElementsAre("brightest"));
}

TEST_F(FunctionPlugin, OneThatIsNotThereIsNamed) {
  use_folder(MILLRACE_TEST_PLUGIN_DIR);
  EXPECT_THAT(refusal("darkest"), HasSubstr("libmillrace-function-darkest.so"));
  EXPECT_THAT(refusal("../brightest"), HasSubstr("no name of a function"));
}

TEST_F(FunctionPlugin, OneOfAnotherVersionIsNeverUsed) {
  use_folder(MILLRACE_TEST_PLUGIN_DIR);
  for (int attempt = 0; attempt < 3; ++attempt)
    EXPECT_THAT(refusal("outdated"), HasSubstr("was built for version 2"));
  const auto results =
      test::run(PostProcessType::ARGMAX, "", {test::output_info({1, 2})}, {{4, 5}});
  EXPECT_EQ(results.size(), 1U) << "the function of the library";
}

TEST_F(FunctionPlugin, OneThatOthersCouldHaveWrittenIsNotLoaded) {
  const millrace::test::TemporaryDirectory folder;
  const std::string name = "libmillrace-function-planted.so";
  std::filesystem::copy_file(MILLRACE_TEST_PLUGIN_DIR "/libmillrace-function-brightest.so",
                             folder.file(name));
  std::filesystem::permissions(folder.file(name), std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  use_folder(folder.path().string());
  EXPECT_THAT(refusal("planted"), HasSubstr("is not loaded"));
}

}  // namespace
}  // namespace vart
