#include "runtime/loading/program_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "device/registry.h"
#include "graph/archive/codec.h"
#include "model/archive_writer.h"
#include "tests/runtime/profiled_model.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tiny_model.h"

namespace millrace::runtime {
namespace {

class ProgramCacheTest : public ::testing::Test {
 protected:
  std::vector<std::byte> archive(uint32_t batch_size) {
    const std::string path = directory_.file("tiny.rai");
    EXPECT_TRUE(test::write_tiny_model(path, {.batch_size = batch_size}).ok());
    std::ifstream file(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    const auto* const first = reinterpret_cast<const std::byte*>(bytes.data());
    return {first, first + bytes.size()};
  }

  test::TemporaryDirectory directory_;
  const std::shared_ptr<device::Device> device_ = *device::open_device("null");
  ProgramCache cache_{*device_};
};

TEST_F(ProgramCacheTest, LoadsTheSameBytesOnce) {
  const auto first = *cache_.load(archive(2));
  EXPECT_EQ(*cache_.load(archive(2)), first);
  EXPECT_EQ(first->model().batch_size, 2u);
}

TEST_F(ProgramCacheTest, LoadsOtherBytesAnew) {
  const auto first = *cache_.load(archive(2));
  const auto second = *cache_.load(archive(3));
  EXPECT_NE(first, second);
  EXPECT_EQ(second->model().batch_size, 3u);
}

TEST_F(ProgramCacheTest, LoadsAnotherProfileAnew) {
  const std::vector<std::byte> bytes =
      model::archive_bytes(graph::encode(test::relu_with_profiles()));
  const auto first = *cache_.load(bytes);
  setenv("MILLRACE_PROFILE", "large", 1);
  const auto second = *cache_.load(bytes);
  unsetenv("MILLRACE_PROFILE");
  EXPECT_EQ(first->model().inputs[0].cpu.shape[2], 8u);
  EXPECT_EQ(second->model().inputs[0].cpu.shape[2], 64u);
}

TEST_F(ProgramCacheTest, DoesNotKeepAProgram) {
  const std::weak_ptr<const device::Program> gone = *cache_.load(archive(2));
  EXPECT_TRUE(gone.expired());
  EXPECT_TRUE(cache_.load(archive(2)).ok());
}

TEST_F(ProgramCacheTest, RefusesBytesThatAreNoArchiveEachTime) {
  const std::vector<std::byte> zeros(64);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(cache_.load(zeros).status().code(), StatusCode::kCorruptData);
}

}  // namespace
}  // namespace millrace::runtime
