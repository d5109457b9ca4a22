// Runners on every device and with every pair of views, with frames whose results are known.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {

struct Face {
  std::string device;
  TensorType input, output;
};

std::string name_of(const Face& face);
std::vector<Face> every_face();

// Floats of [1, channels, 4, 4] in the layout HCWNC{lanes}, zero in the padding lanes.
std::vector<float> blocked(const std::vector<float>& dense, size_t lanes);

class FaceTest : public RunnerTest, public ::testing::WithParamInterface<Face> {
 protected:
  using Bytes = std::vector<uint8_t>;
  static constexpr uint8_t kUntouched = 0xCD;

  FaceTest();

  std::shared_ptr<Runner> make_face(size_t batch_size = 1, Options options = {});

  // Inputs that differ from frame to frame.
  static Tensors numbered_inputs(const Runner& runner, size_t frames);
  static Tensors untouched_outputs(const Runner& runner, size_t frames);
  static Bytes bytes_of(NpuTensor& tensor);
  // The device's result for that frame of numbered_inputs.
  static Bytes result_of(const NpuTensorInfo& output, size_t frame);
  // Expects that the first `frames` outputs hold their results, and nothing else was written.
  static void expect_results(Tensors& tensors, size_t frames);
};

}  // namespace millrace::vartml
