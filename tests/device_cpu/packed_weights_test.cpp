// Packed weights that are kept in the folder of MILLRACE_PACKED_WEIGHTS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/align.h"
#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"
#include "tests/support/another_user.h"
#include "tests/support/log_capture.h"
#include "tests/support/temporary_directory.h"

namespace millrace::device::cpu {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kRows = 300, kColumns = 1000;
constexpr size_t kHeadBytes = 80;

// Two layers, whose weights are large enough for several lanes.
std::shared_ptr<const graph::CompiledModel> network(uint32_t seed = 5) {
  ModelBuilder builder(graph::Precision::kFp32);
  const auto conv = builder.node(
      graph::Conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {graph::UnaryKind::kRelu, 0, 0}},
      {builder.input({1, 32, 1, 1}), builder.constant(Tensor::numbers({kRows, 32, 1, 1}, seed))});
  builder.output(builder.node(graph::MatMul{},
                              {builder.node(graph::Reshape{{1, kRows}}, {conv}),
                               builder.constant(Tensor::numbers({kRows, kColumns}, seed + 1))}));
  return builder.build();
}

std::vector<float> result_of(const Program& program) {
  return run(program, {Tensor::numbers({1, 32, 1, 1}, 9)})[0].data;
}

// Whether this process has the file in its memory.
bool is_mapped(const fs::path& file) {
  std::ifstream maps("/proc/self/maps");
  const std::string text{std::istreambuf_iterator<char>(maps), {}};
  return text.find(file.string()) != std::string::npos;
}

class PackedWeights : public ::testing::Test {
 protected:
  PackedWeights() : expected_(result_of(*load(network()))) {
    setenv("MILLRACE_PACKED_WEIGHTS", directory_.path().c_str(), 1);
  }
  ~PackedWeights() override { unsetenv("MILLRACE_PACKED_WEIGHTS"); }

  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(directory_.path())) found.push_back(entry);
    return found;
  }
  // The file of a network that has been loaded.
  fs::path kept() {
    load(network());
    return files().at(0);
  }
  // A load beside that file packs the weights again, says so, and replaces it.
  void expect_replaced(const fs::path& file) {
    {
      const test::LogCapture log;
      EXPECT_EQ(result_of(*load(network())), expected_);
      EXPECT_EQ(log.count(file.string()), 1u);
    }
    const test::LogCapture log;
    EXPECT_EQ(result_of(*load(network())), expected_);
    EXPECT_THAT(log.lines(), IsEmpty());
  }

  test::TemporaryDirectory directory_;
  const std::vector<float> expected_;
};

TEST_F(PackedWeights, AreMappedByLaterLoads) {
  const test::LogCapture log;
  EXPECT_EQ(result_of(*load(network())), expected_);
  ASSERT_THAT(files(), SizeIs(1));
  const fs::path file = files()[0];
  const auto written = fs::last_write_time(file);
  EXPECT_FALSE(is_mapped(file));
  {
    const auto second = load(network()), third = load(network());
    EXPECT_TRUE(is_mapped(file));
    EXPECT_EQ(result_of(*second), expected_);
    EXPECT_EQ(result_of(*third), expected_);
  }
  EXPECT_FALSE(is_mapped(file));
  EXPECT_THAT(files(), SizeIs(1));
  EXPECT_EQ(fs::last_write_time(file), written);
  EXPECT_THAT(log.lines(), IsEmpty());
}

TEST_F(PackedWeights, OfAnotherModelHaveAnotherFile) {
  load(network());
  const std::vector<float> other = result_of(*load(network(77)));
  EXPECT_THAT(files(), SizeIs(2));
  EXPECT_NE(other, expected_);
  EXPECT_EQ(result_of(*load(network(77))), other);
}

TEST_F(PackedWeights, ThatAreDamagedAreReplaced) {
  const fs::path file = kept();
  std::fstream content(file, std::ios::in | std::ios::out | std::ios::binary);
  content.seekp(-5, std::ios::end);
  content.put('\x55');
  content.close();
  expect_replaced(file);
}

TEST_F(PackedWeights, ThatAreTruncatedAreReplaced) {
  const fs::path file = kept();
  fs::resize_file(file, 4000);
  expect_replaced(file);
}

TEST_F(PackedWeights, InWhoseFileIsSomethingElseAreReplaced) {
  const fs::path file = kept();
  const auto size = fs::file_size(file);
  std::ofstream(file, std::ios::binary) << std::string(size, 'x');
  expect_replaced(file);
}

TEST_F(PackedWeights, OfAnotherModelUnderTheirNameAreReplaced) {
  const fs::path file = kept();
  load(network(77));
  const auto all = files();
  fs::rename(all[0] == file ? all[1] : all[0], file);
  expect_replaced(file);
}

TEST_F(PackedWeights, WhoseChecksumsAreThoseOfAnotherFileAreReplaced) {
  const fs::path file = kept();
  std::fstream content(file, std::ios::in | std::ios::out | std::ios::binary);
  content.seekp(kHeadBytes);
  content.put('\x55');
  content.close();
  expect_replaced(file);
}

// With one constant the file is easily forged: all bytes after the head belong to it.
std::shared_ptr<const graph::CompiledModel> layer() {
  ModelBuilder builder(graph::Precision::kFp32);
  builder.output(builder.node(
      graph::MatMul{},
      {builder.input({1, kRows}), builder.constant(Tensor::numbers({kRows, kColumns}, 5))}));
  return builder.build();
}

std::vector<float> result_of_layer() {
  return run(*load(layer()), {Tensor::numbers({1, kRows}, 9)})[0].data;
}

// Turns the signs of the weights and makes both checksums right again (weights/packed_file.h).
void forge(const fs::path& file) {
  std::ifstream read(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(read), {}};
  for (size_t at = kPage + 3; at < bytes.size(); at += sizeof(float)) bytes[at] ^= '\x80';
  const auto put = [&](size_t at, uint64_t sum) {
    std::memcpy(bytes.data() + at, &sum, sizeof sum);
  };
  put(kHeadBytes, XXH3_64bits(bytes.data() + kPage, bytes.size() - kPage));
  const size_t sums = kHeadBytes - sizeof(uint64_t);
  put(sums, XXH3_64bits((bytes.substr(0, sums) + bytes.substr(kHeadBytes, 8)).data(), sums + 8));
  std::ofstream(file, std::ios::binary) << bytes;
}

TEST_F(PackedWeights, OfAnotherUserAreNotRead) {
  const std::vector<float> expected = result_of_layer();
  const fs::path file = files().at(0);
  forge(file);
  ASSERT_NE(result_of_layer(), expected) << "of the user's own, the forgery must be a good one";
  if (!test::give_to_another_user(file)) GTEST_SKIP() << "only root can give a file away";
  const test::LogCapture log;
  EXPECT_EQ(result_of_layer(), expected);
  EXPECT_EQ(log.count("belongs to user 65534"), 1u);
}

TEST_F(PackedWeights, ThatEverybodyCanWriteAreNotRead) {
  const std::vector<float> expected = result_of_layer();
  const fs::path file = files().at(0);
  forge(file);
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(result_of_layer(), expected);
  forge(files().at(0));
  fs::permissions(directory_.path(), fs::perms::others_write, fs::perm_options::add);
  const test::LogCapture log;
  EXPECT_EQ(result_of_layer(), expected) << "nor those in a folder that everybody can write";
  EXPECT_EQ(log.count("may be written by everybody"), 1u);
}

TEST_F(PackedWeights, DoNotReplaceADevice) {
  const fs::path file = kept();
  fs::remove(file);
  if (!test::make_device(file, test::Node::kNull)) GTEST_SKIP() << "only root can make a device";
  EXPECT_EQ(result_of(*load(network())), expected_);
  EXPECT_TRUE(test::is_device(file));
}

TEST_F(PackedWeights, StayInMemoryWhereTheFolderIsMissing) {
  const std::string missing = directory_.file("missing");
  setenv("MILLRACE_PACKED_WEIGHTS", missing.c_str(), 1);
  const test::LogCapture log;
  EXPECT_EQ(result_of(*load(network())), expected_);
  EXPECT_EQ(log.count(missing), 1u);
}

}  // namespace
}  // namespace millrace::device::cpu
