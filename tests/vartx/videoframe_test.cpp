#include "vart/vart_videoframe.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "vart/vart_memory.hpp"
#include "vart/vart_npu_tensor.hpp"

namespace vart {
namespace {

using ::testing::HasSubstr;

// Makes an info like programs do: what they do not set is garbage.
VideoInfo picture(VideoFormat format, int32_t width, int32_t height) {
  VideoInfo info;
  std::memset(&info, 0xa5, sizeof info);
  info.width = width;
  info.height = height;
  info.fmt = format;
  return info;
}

class VideoFrameTest : public ::testing::Test {
 protected:
  VideoFrame frame(VideoFormat format, int32_t width, int32_t height, size_t size,
                   VideoFrameImplType type = VideoFrameImplType::XRT) {
    VideoInfo info = picture(format, width, height);
    return VideoFrame(type, size, uint8_t{2}, info, device_);
  }
  std::string reason(VideoFormat format, int32_t width, int32_t height, size_t size) {
    try {
      frame(format, width, height, size);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "taken";
  }

  const std::shared_ptr<Device> device_ = Device::get_device_hdl(0, "");
};

struct Shape {
  VideoFormat format;
  size_t bytes;  // of 4 x 2 pixels
  std::vector<int32_t> strides;
};

TEST_F(VideoFrameTest, PlanesAreTightInEveryFormat) {
  const std::vector<Shape> shapes = {{VideoFormat::BGR, 24, {12}},
                                     {VideoFormat::RGBx, 32, {16}},
                                     {VideoFormat::RGBx_BF16, 64, {32}},
                                     {VideoFormat::RGBP, 24, {4, 4, 4}},
                                     {VideoFormat::RGBP_FP16, 48, {8, 8, 8}},
                                     {VideoFormat::RGBP_FLOAT, 96, {16, 16, 16}},
                                     {VideoFormat::RGB_FLOAT, 96, {48}},
                                     {VideoFormat::RGB_BF16, 48, {24}},
                                     {VideoFormat::GRAY8, 8, {4}},
                                     {VideoFormat::GRAY_BF16, 16, {8}},
                                     {VideoFormat::Y_UV8_420, 12, {4, 4}},
                                     {VideoFormat::I420, 12, {4, 2, 2}},
                                     {VideoFormat::NV16, 16, {4, 4}},
                                     {VideoFormat::YUY2, 16, {8}},
                                     {VideoFormat::GRAY10_LE32, 16, {8}},
                                     {VideoFormat::NV12_10LE32, 24, {8, 8}},
                                     {VideoFormat::I422_10LE, 32, {8, 4, 4}}};
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(static_cast<int>(shape.format));
    VideoFrame made = frame(shape.format, 4, 2, shape.bytes);
    const VideoFrameMapInfo& mapped = made.map(DataMapFlags::WRITE);
    ASSERT_EQ(mapped.nplanes, shape.strides.size());
    EXPECT_EQ(mapped.size, shape.bytes);
    const uint8_t* next = mapped.planes[0].data;
    for (size_t i = 0; i < mapped.nplanes; ++i) {
      const VideoPlaneInfo& plane = mapped.planes[i];
      EXPECT_EQ(plane.stride, shape.strides[i]);
      EXPECT_EQ(plane.offset, 0u);
      EXPECT_EQ(plane.size, static_cast<size_t>(plane.stride * plane.elevation));
      EXPECT_EQ(plane.data, next);
      std::memset(plane.data, 1, plane.size);
      next += plane.size;
    }
    EXPECT_EQ(next, mapped.planes[0].data + shape.bytes);
  }
}

TEST_F(VideoFrameTest, ItsInfoDoesNotRepeatGarbage) {
  VideoFrame made = frame(VideoFormat::Y_UV8_420, 6, 4, 36);
  const VideoInfo& info = made.get_video_info();
  EXPECT_EQ(info.width, 6);
  EXPECT_EQ(info.height, 4);
  EXPECT_EQ(info.fmt, VideoFormat::Y_UV8_420);
  EXPECT_EQ(info.n_planes, 2u);
  EXPECT_EQ(info.stride[1], 6u);
  EXPECT_EQ(info.elevation[1], 2u);
  EXPECT_EQ(info.alignment.padding_right, 0u);
  EXPECT_EQ(made.map(DataMapFlags::READ).alignment.padding_left, 0u);
}

TEST_F(VideoFrameTest, RawTensorsAreGrayRows) {
  VideoFrame made = frame(VideoFormat::GRAY8, 602112, 1, 602112);
  EXPECT_EQ(made.map(DataMapFlags::WRITE).planes[0].stride, 602112);
}

TEST_F(VideoFrameTest, MapAndUnmapNeedNoOrder) {
  VideoFrame made = frame(VideoFormat::BGR, 4, 4, 48);
  made.unmap();
  const VideoFrameMapInfo* first = &made.map(DataMapFlags::WRITE);
  EXPECT_EQ(&made.map(DataMapFlags::READ), first);
  made.unmap();
  made.unmap();
  EXPECT_NE(made.map(DataMapFlags::READ).planes[0].data, nullptr);
}

TEST_F(VideoFrameTest, AddressesFollowThePlanes) {
  VideoFrame made = frame(VideoFormat::Y_UV8_420, 4, 4, 24);
  const VideoFrameMapInfo& mapped = made.map(DataMapFlags::READ);
  EXPECT_NE(mapped.planes[0].phy_addr, 0u);
  EXPECT_EQ(mapped.planes[1].phy_addr, mapped.planes[0].phy_addr + 16);
  VideoFrame host = frame(VideoFormat::BGR, 4, 4, 48, VideoFrameImplType::NON_CMA);
  EXPECT_EQ(host.map(DataMapFlags::READ).planes[0].phy_addr, 0u);
}

TEST_F(VideoFrameTest, WrapsAPointerPerPlane) {
  std::vector<uint8_t> luma(16), chroma(8);
  std::vector<uint8_t*> pointers = {luma.data(), chroma.data()};
  VideoInfo info = picture(VideoFormat::Y_UV8_420, 4, 4);
  VideoFrame made(VideoFrameImplType::NON_CMA, pointers, info, device_);
  const VideoFrameMapInfo& mapped = made.map(DataMapFlags::READ);
  EXPECT_EQ(mapped.planes[0].data, luma.data());
  EXPECT_EQ(mapped.planes[1].data, chroma.data());
  EXPECT_LT(made.export_buffer(), 0);
  pointers.pop_back();
  EXPECT_THROW(VideoFrame(VideoFrameImplType::NON_CMA, pointers, info, device_),
               std::invalid_argument);
  pointers.push_back(nullptr);
  EXPECT_THROW(VideoFrame(VideoFrameImplType::NON_CMA, pointers, info, device_),
               std::invalid_argument);
}

// A pool of frames is fed to a runner in this way: exported once, bound once, filled repeatedly.
TEST_F(VideoFrameTest, ATensorSeesThePixelsOfTheFrame) {
  VideoFrame made = frame(VideoFormat::RGBx, 2, 2, 16);
  int fd = made.export_buffer();
  ASSERT_GE(fd, 0);
  NpuTensorInfo info;
  info.name = "input";
  info.data_type = DataType::INT8;
  info.memory_layout = MemoryLayout::HCWNC4;
  info.size = info.size_in_bytes = 16;
  info.shape = {2, 1, 2, 1, 4};
  info.strides = {8, 8, 4, 4, 1};
  const NpuTensor tensor(info, &fd, MemoryType::DMA_FD);
  close(fd);
  made.map(DataMapFlags::WRITE).planes[0].data[5] = 77;
  made.unmap();
  const int again = tensor.export_buffer();
  Memory seen(MemoryImplType::XRT, again, 16, device_);
  close(again);
  EXPECT_EQ(seen.map(DataMapFlags::READ)[5], 77);
}

TEST_F(VideoFrameTest, OddSizesOfSubsampledFormatsAreRefused) {
  EXPECT_THAT(reason(VideoFormat::Y_UV8_420, 5, 4, 1000), HasSubstr("multiples"));
  EXPECT_THAT(reason(VideoFormat::Y_UV8_420, 4, 5, 1000), HasSubstr("multiples"));
  EXPECT_THAT(reason(VideoFormat::NV16, 5, 4, 1000), HasSubstr("multiples"));
  EXPECT_EQ(reason(VideoFormat::NV16, 4, 5, 1000), "taken");
}

TEST_F(VideoFrameTest, ImpossibleSizesAreRefused) {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  EXPECT_THAT(reason(VideoFormat::BGR, 0, 4, 1000), HasSubstr("0 x 4"));
  EXPECT_THAT(reason(VideoFormat::BGR, 4, -1, 1000), HasSubstr("4 x -1"));
  EXPECT_THAT(reason(VideoFormat::BGR, kMost, 1, 1000), HasSubstr("rows"));
  EXPECT_THAT(reason(VideoFormat::GRAY8, kMost, kMost, 1000), HasSubstr("need"));
  EXPECT_NE(reason(VideoFormat::GRAY8, kMost, kMost, std::numeric_limits<size_t>::max()), "taken");
}

TEST_F(VideoFrameTest, ASizeThatDoesNotSufficeIsRefused) {
  EXPECT_THAT(reason(VideoFormat::BGR, 4, 4, 47), HasSubstr("need 48 bytes"));
  EXPECT_EQ(reason(VideoFormat::BGR, 4, 4, 64), "taken");
}

TEST_F(VideoFrameTest, WhatIsNoFormatIsRefused) {
  EXPECT_THAT(reason(VideoFormat::UNKNOWN, 4, 4, 1000), HasSubstr("format"));
  EXPECT_THAT(reason(static_cast<VideoFormat>(1234), 4, 4, 1000), HasSubstr("1234"));
}

TEST_F(VideoFrameTest, PointersToNoBufferObjectAreRefused) {
  int unrelated = 0;
  std::vector<xrt::bo*> objects = {reinterpret_cast<xrt::bo*>(&unrelated)};
  VideoInfo info = picture(VideoFormat::BGR, 4, 4);
  EXPECT_THROW(VideoFrame(VideoFrameImplType::XRT, uint8_t{0}, objects, info, device_),
               std::invalid_argument);
}

}  // namespace
}  // namespace vart
