// The shipped network keeps its accuracy on pictures it never saw, recomputed from the .onnx file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <span>

#include "base/process/topology.h"
#include "io/npy.h"
#include "source_dir.h"
#include "tests/e2e/pipeline.h"

namespace millrace::test {
namespace {

constexpr double kPromisedAccuracy = 0.97;
const std::string kFolder = MILLRACE_SOURCE_DIR "/models/glyphs/";

std::vector<float> frame_of(const io::Array& images, size_t index) {
  const size_t pixels = size_t{images.shape[1]} * images.shape[2];
  std::vector<float> frame(pixels);
  for (size_t i = 0; i < pixels; ++i)
    frame[i] = static_cast<float>(std::to_integer<int>(images.bytes[index * pixels + i])) / 255;
  return frame;
}

// Reads all pictures with two jobs in flight; the index of the highest score for each.
std::vector<int> read_all(runtime::Session& session, const io::Array& images) {
  struct Slot {
    std::vector<float> input, scores;
    runtime::SessionJobId id = 0;
  };
  std::deque<Slot> in_flight;
  std::vector<int> read;
  const auto collect = [&] {
    Slot& slot = in_flight.front();
    EXPECT_TRUE(session.wait(slot.id, std::chrono::minutes(1)).ok());
    read.push_back(static_cast<int>(std::ranges::max_element(slot.scores) - slot.scores.begin()));
    in_flight.pop_front();
  };
  for (size_t i = 0; i < images.shape[0]; ++i) {
    if (in_flight.size() == 2) collect();
    Slot& slot = in_flight.emplace_back();
    slot.input = frame_of(images, i);
    slot.scores.resize(session.model().outputs[0].cpu.elements());
    const runtime::TensorBinding input{slot.input.data(), device::View::kCpu, nullptr};
    const runtime::TensorBinding output{slot.scores.data(), device::View::kCpu, nullptr};
    const auto id = session.submit({1, {&input, 1}, {&output, 1}});
    EXPECT_TRUE(id.ok()) << id.status().to_string();
    if (!id.ok()) return read;
    slot.id = *id;
  }
  while (!in_flight.empty()) collect();
  return read;
}

double measured_accuracy(graph::Precision precision) {
  const auto images = io::read_npy(kFolder + "heldback_images.npy");
  const auto labels = io::read_npy(kFolder + "heldback_labels.npy");
  EXPECT_TRUE(images.ok() && labels.ok());
  const auto archive = compile_to_archive(kFolder + "glyphs.onnx", {.precision = precision});
  EXPECT_TRUE(archive.ok()) << archive.status().to_string();
  const auto session = open_session(*archive, "cpu");
  EXPECT_TRUE(session.ok()) << session.status().to_string();
  const std::vector<int> read = read_all(**session, *images);
  EXPECT_EQ(read.size(), labels->bytes.size());
  EXPECT_GE(read.size(), 1000u);
  size_t right = 0;
  for (size_t i = 0; i < read.size(); ++i)
    right += read[i] == std::to_integer<int>(labels->bytes[i]);
  return static_cast<double>(right) / static_cast<double>(read.size());
}

TEST(Glyphs, AccuracyInFp32) {
  EXPECT_GE(measured_accuracy(graph::Precision::kFp32), kPromisedAccuracy);
}

TEST(Glyphs, AccuracyInBf16) {
  if (!topology().features.avx512_bf16) GTEST_SKIP() << "the processor computes no BF16";
  EXPECT_GE(measured_accuracy(graph::Precision::kBf16), kPromisedAccuracy);
}

TEST(Glyphs, AnImageOfNansHasNoScores) {
  for (const auto precision : {graph::Precision::kFp32, graph::Precision::kBf16}) {
    const auto archive = compile_to_archive(kFolder + "glyphs.onnx", {.precision = precision});
    ASSERT_TRUE(archive.ok()) << archive.status().to_string();
    const auto session = open_session(*archive, "cpu");
    ASSERT_TRUE(session.ok()) << session.status().to_string();
    const auto& model = (*session)->model();
    const std::vector<float> nans(model.inputs[0].cpu.elements(),
                                  std::numeric_limits<float>::quiet_NaN());
    const auto bytes = std::as_bytes(std::span(nans));
    const auto outputs = run_async(**session, {{{bytes.begin(), bytes.end()}}}, device::View::kCpu);
    ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
    std::vector<float> scores(model.outputs[0].cpu.elements());
    std::memcpy(scores.data(), outputs->at(0).at(0).data(), scores.size() * sizeof(float));
    for (const float score : scores) EXPECT_TRUE(std::isnan(score));
  }
}

}  // namespace
}  // namespace millrace::test
