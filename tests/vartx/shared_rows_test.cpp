// PreProcess beside a device that is open: its lanes make rows, and the result stays the same.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <thread>
#include <vector>

#include "device/registry.h"
#include "vart/vart_preprocess.hpp"

namespace vart {
namespace {

namespace device = millrace::device;

constexpr int32_t kWidth = 1280, kHeight = 720;  // large enough to be shared
constexpr uint32_t kSide = 320;

class SharedRows : public ::testing::Test {
 protected:
  SharedRows() { setenv("MILLRACE_DEVICE", "null", 1); }
  ~SharedRows() override { unsetenv("MILLRACE_DEVICE"); }

  PreProcess make() {
    std::string json = R"({"colour-format": "RGBX_BF16", "mean-r": 120, "scale-g": 0.017})";
    PreProcess made(PreProcessImplType::IMAGE_PROCESSING_SW, json, device_);
    PreProcessInfo info = made.get_preprocess_info();
    info.width = info.height = kSide;
    made.set_preprocess_info(info);
    return made;
  }

  VideoFrame picture() {
    VideoInfo info{};
    make().get_input_vinfo(kHeight, kWidth, VideoFormat::BGR, info);
    VideoFrame frame(VideoFrameImplType::XRT, size_t{3} * kWidth * kHeight, 0, info, device_);
    uint8_t* pixels = frame.map(DataMapFlags::WRITE).planes[0].data;
    for (uint32_t i = 0, noise = 1; i < 3 * kWidth * kHeight; ++i)
      pixels[i] = static_cast<uint8_t>((noise = noise * 1664525 + 1013904223) >> 24);
    frame.unmap();
    return frame;
  }

  std::vector<uint8_t> tensor_of(PreProcess& preprocess, VideoFrame& picture) {
    VideoInfo info = preprocess.get_output_vinfo();
    const size_t bytes = size_t{8} * kSide * kSide;
    VideoFrame out(VideoFrameImplType::XRT, bytes, 0, info, device_);
    std::vector<PreProcessOp> ops(1);
    ops[0].in_frame = &picture;
    ops[0].out_frame = &out;
    preprocess.process(ops);
    const uint8_t* pixels = out.map(DataMapFlags::READ).planes[0].data;
    std::vector<uint8_t> tensor(pixels, pixels + bytes);
    out.unmap();
    return tensor;
  }

  const std::shared_ptr<Device> device_ = Device::get_device_hdl(0, "");
};

TEST_F(SharedRows, GiveTheSameBytes) {
  VideoFrame in = picture();
  PreProcess alone = make();
  const std::vector<uint8_t> expected = tensor_of(alone, in);
  const auto opened = device::open_device("null", {.lanes = 4}).value();
  PreProcess shared = make();
  for (int i = 0; i < 50; ++i) ASSERT_EQ(tensor_of(shared, in), expected);
}

// Each with objects of its own, which share the lanes.
TEST_F(SharedRows, MayBeAskedForByThreadsAtTheSameTime) {
  const auto opened = device::open_device("null", {.lanes = 3}).value();
  VideoFrame in = picture();
  PreProcess preprocess = make();
  const std::vector<uint8_t> expected = tensor_of(preprocess, in);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      VideoFrame own = picture();
      PreProcess mine = make();
      for (int round = 0; round < 10; ++round) EXPECT_EQ(tensor_of(mine, own), expected);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(SharedRows, OutliveTheRunnersOfTheProcess) {
  auto opened = device::open_device("null", {.lanes = 3}).value();
  VideoFrame in = picture();
  PreProcess preprocess = make();
  const std::vector<uint8_t> expected = tensor_of(preprocess, in);
  opened = nullptr;
  EXPECT_NE(device::find_device_of_program(), nullptr) << "no lanes were used";
  EXPECT_EQ(tensor_of(preprocess, in), expected);
}

TEST_F(SharedRows, OpenNoDevice) {
  VideoFrame in = picture();
  PreProcess preprocess = make();
  tensor_of(preprocess, in);
  EXPECT_EQ(device::find_device_of_program(), nullptr);
}

}  // namespace
}  // namespace vart
