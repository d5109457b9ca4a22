// Devices, models and buffers as a program meets them.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "tests/api/native_fixture.h"

namespace millrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DeviceTest : public ::testing::Test {
 protected:
  std::string tiny(const TinyModelOptions& options = {}) {
    const std::string path = directory_.file("tiny.rai");
    EXPECT_TRUE(write_tiny_model(path, options).ok());
    return path;
  }
  TemporaryDirectory directory_;
};

TEST_F(DeviceTest, IsOpenedByName) {
  const Device device = Device::open("null").value();
  EXPECT_EQ(device.name(), "null");
  EXPECT_FALSE(device.description().empty());
  EXPECT_GE(device.lanes(), 1u);
  const Status none = Device::open("nosuch").status();
  EXPECT_EQ(none.code(), StatusCode::kNotFound);
  EXPECT_THAT(none.message(), HasSubstr("nosuch"));
}

TEST_F(DeviceTest, SaysWhatIsWrongWithAnArchive) {
  const Device device = Device::open("null").value();
  const Status missing = device.load(directory_.file("none.rai")).status();
  EXPECT_EQ(missing.code(), StatusCode::kNotFound);
  EXPECT_THAT(missing.message(), HasSubstr("none.rai"));
}

TEST_F(DeviceTest, RefusesAModelBeyondTheMemoryLimit) {
  for (const char* name : {"null", "cpu"}) {
    const Device device = Device::open(name).value();
    const Status refused = device.load(tiny(), {.memory_limit = 1000}).status();
    EXPECT_EQ(refused.code(), StatusCode::kOutOfMemory);
    EXPECT_THAT(refused.message(), HasSubstr("the memory limit is 1000"));
    EXPECT_TRUE(device.load(tiny(), {.memory_limit = 1 << 20}).ok()) << name;
  }
}

TEST_F(DeviceTest, DescribesAModelInBothViews) {
  Device device = Device::open("null").value();
  const Model model = device.load(tiny({.batch_size = 3})).value();
  EXPECT_EQ(model.name(), "tiny");
  EXPECT_EQ(model.batch_size(), 3u);
  ASSERT_EQ(model.inputs().size(), 1u);
  const TensorInfo& input = model.inputs()[0];
  EXPECT_EQ(input.name, kTinyInput);
  EXPECT_EQ(input.cpu.type, DataType::kFloat32);
  EXPECT_EQ(input.cpu.layout, Layout::kNchw);
  EXPECT_THAT(input.cpu.shape, ElementsAre(1, 3, 4, 4));
  EXPECT_EQ(input.cpu.bytes, 192u);
  EXPECT_EQ(input.cpu.elements, 48u);
  ASSERT_TRUE(input.hw);
  EXPECT_EQ(input.hw->layout, Layout::kHcwnc4);
  EXPECT_THAT(input.hw->shape, ElementsAre(4, 1, 4, 1, 4));
  EXPECT_EQ(to_string(input.hw->layout), "HCWNC4");
  EXPECT_EQ(to_string(input.cpu.type), "FLOAT32");
  EXPECT_EQ(size_of(input.cpu.type), 4u);
  EXPECT_FALSE(model.note().empty()) << "the null device says that it computes nothing";
  EXPECT_FALSE(device.load(tiny({.hw_views = false})).value().inputs()[0].hw);
}

TEST_F(DeviceTest, ComputesOnCallersMemoryAndOnBuffers) {
  Device device = Device::open("cpu").value();
  const Model model = device.load(tiny()).value();
  Unit unit = device.create_unit().value();
  std::vector<float> x = tiny_numbers(model.inputs()[0].cpu.elements, 7);
  const std::vector<float> expected = tiny_reference(x);

  std::vector<float> y(expected.size());
  const TensorArg input{std::span<const float>(x)}, output{std::span(y)};
  ASSERT_TRUE(unit.execute(model, {.inputs = {&input, 1}, .outputs = {&output, 1}}).ok());
  EXPECT_EQ(y, expected);

  const Buffer in = Buffer::allocate(model.inputs()[0].cpu.bytes).value();
  const Buffer out = Buffer::allocate(model.outputs()[0].cpu.bytes).value();
  std::ranges::copy(x, in.span<float>().begin());
  const TensorArg in_arg(in), out_arg(out);
  Job job = unit.submit(model, {.inputs = {&in_arg, 1}, .outputs = {&out_arg, 1}}).value();
  ASSERT_TRUE(job.wait().ok());
  EXPECT_TRUE(std::ranges::equal(out.span<float>(), expected));
}

TEST(BufferTest, IsSharedByCopiesAndSlices) {
  Buffer slice;
  {
    const Buffer whole = Buffer::allocate(1000).value();
    const Buffer copy = whole;  // NOLINT(performance-unnecessary-copy-initialization)
    EXPECT_EQ(copy.data(), whole.data());
    EXPECT_EQ(whole.size(), 1000u);
    EXPECT_EQ(whole.span<uint32_t>().size(), 250u);
    whole.span<uint8_t>()[100] = 42;
    slice = whole.slice(100, 10).value();
    EXPECT_EQ(whole.slice(995, 10).status().code(), StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(slice.size(), 10u);
  EXPECT_EQ(slice.span<uint8_t>()[0], 42);
  EXPECT_EQ(slice.export_fd().status().code(), StatusCode::kUnsupported);
}

TEST(BufferTest, GoesToOthersAsADescriptor) {
  const Buffer ours = Buffer::allocate(64).value();
  const int fd = ours.export_fd().value();
  const Buffer theirs = Buffer::import_fd(fd, 64).value();
  ::close(fd);
  ours.span<uint8_t>()[3] = 7;
  EXPECT_EQ(theirs.span<uint8_t>()[3], 7);
  EXPECT_NE(ours.device_address(), theirs.device_address());
  EXPECT_TRUE(ours.sync_for_device().ok());
  EXPECT_TRUE(theirs.sync_for_host().ok());
  EXPECT_EQ(Buffer::import_fd(-1, 64).status().code(), StatusCode::kInvalidArgument);
}

TEST(BufferTest, ComesFromTheSourceThatIsAskedForOrNotAtAll) {
  EXPECT_TRUE(Buffer::allocate(64, SharedMemory::kMemfd).ok());
  for (const auto& [source, node] : {std::pair{SharedMemory::kUdmabuf, "/dev/udmabuf"},
                                     std::pair{SharedMemory::kDmaHeap, "/dev/dma_heap/system"}}) {
    const Result<Buffer> made = Buffer::allocate(64, source);
    if (made.ok()) continue;  // this machine has it
    EXPECT_EQ(made.status().code(), StatusCode::kUnsupported);
    EXPECT_THAT(made.status().message(), HasSubstr(node));
  }
  EXPECT_EQ(Buffer::allocate(64, static_cast<SharedMemory>(9)).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(BufferTest, WrapsCallersMemory) {
  std::vector<uint8_t> memory(16);
  const Buffer buffer = Buffer::wrap(memory.data(), memory.size()).value();
  EXPECT_EQ(reinterpret_cast<uint8_t*>(buffer.data()), memory.data());
  EXPECT_TRUE(buffer.writable());
  EXPECT_EQ(buffer.export_fd().status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(Buffer::wrap(nullptr, 16).status().code(), StatusCode::kInvalidArgument);
}

TEST(BufferTest, ThatIsEmptySaysSo) {
  const Buffer empty;
  EXPECT_FALSE(empty);
  EXPECT_EQ(empty.data(), nullptr);
  EXPECT_EQ(empty.size(), 0u);
  EXPECT_EQ(empty.device_address(), 0u);
  EXPECT_EQ(empty.slice(0, 1).status().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(empty.sync_for_host().ok());
  EXPECT_EQ(Buffer::allocate(0).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace millrace::test
