// Real topologies with random weights, against outputs that ONNX Runtime computed of the same
// weights (golden.mjs). The topologies are those of the folder of test models; skipped without it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "io/file.h"
#include "source_dir.h"
#include "tests/e2e/pipeline.h"
#include "tests/e2e/seeded/seeded_model.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_models.h"

namespace millrace::test {
namespace {

constexpr size_t kStep = 4;  // the golden output has each so manieth element

std::vector<float> as_floats(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

std::vector<float> every_fourth(const std::vector<float>& values) {
  std::vector<float> kept;
  for (size_t i = 0; i < values.size(); i += kStep) kept.push_back(values[i]);
  return kept;
}

// The largest difference, as a share of the largest golden element.
double largest_difference(const std::vector<float>& ours, const std::vector<float>& golden) {
  double difference = 0, largest = 0;
  for (size_t i = 0; i < golden.size(); ++i) {
    largest = std::max(largest, std::abs(double{golden[i]}));
    // Written so that a NaN counts as a difference.
    const double here = std::abs(double{ours[i]} - golden[i]);
    if (!(here <= difference)) difference = here;
  }
  return difference / largest;
}

class SeededModels : public testing::TestWithParam<const char*> {
 protected:
  Result<std::vector<float>> run(const SeededModel& seeded) {
    const TemporaryDirectory directory;
    const std::string model = directory.file("model.onnx");
    MILLRACE_RETURN_IF_ERROR(io::write_file(model, std::as_bytes(std::span(seeded.onnx))));
    MILLRACE_ASSIGN_OR_RETURN(auto archive, compile_to_archive(model, {}));
    MILLRACE_ASSIGN_OR_RETURN(const auto session, open_session(std::move(archive), "cpu"));
    const auto input = std::as_bytes(std::span(seeded.input));
    MILLRACE_ASSIGN_OR_RETURN(
        const FrameBytes outputs,
        run_async(*session, {{{input.begin(), input.end()}}}, device::View::kCpu));
    return as_floats(outputs[0][0]);
  }
};

TEST_P(SeededModels, ComputeWhatOnnxRuntimeDoes) {
  const auto light = test_model(std::string("models/light_") + GetParam() + ".onnx");
  if (!light) GTEST_SKIP() << "no test models beside the project";
  const auto seeded = seed_model(*light);
  ASSERT_TRUE(seeded.ok()) << seeded.status().to_string();
  const auto file =
      io::read_file(std::string(MILLRACE_SOURCE_DIR "/tests/e2e/seeded/") + GetParam() + ".bin");
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  const auto outputs = run(*seeded);
  ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
  const std::vector<float> golden = as_floats(*file), ours = every_fourth(*outputs);
  ASSERT_EQ(ours.size(), golden.size());
  const auto [low, high] = std::ranges::minmax(golden);
  ASSERT_LT(low, high / 2) << "the golden output is nearly constant";
  EXPECT_LE(largest_difference(ours, golden), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(All, SeededModels,
                         testing::Values("densenet121", "inception_v2", "resnet50", "shufflenet",
                                         "squeezenet"),
                         [](const auto& parameter) { return std::string(parameter.param); });

}  // namespace
}  // namespace millrace::test
