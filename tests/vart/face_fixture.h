// Runners on every device and with every pair of views, with frames whose results are known.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {

struct Face {
  std::string device;
  TensorType input, output;
};

inline std::string name_of(const Face& face) {
  return face.device + "_" + std::string(to_string(face.input)) + "_" +
         std::string(to_string(face.output));
}

inline std::vector<Face> every_face() {
  std::vector<Face> faces;
  for (const char* device : {"null", "pattern", "cpu"})
    for (const TensorType input : {TensorType::CPU, TensorType::HW})
      for (const TensorType output : {TensorType::CPU, TensorType::HW})
        faces.push_back({device, input, output});
  return faces;
}

// Floats of [1, channels, 4, 4] in the layout HCWNC{lanes}, zero in the padding lanes.
inline std::vector<float> blocked(const std::vector<float>& dense, size_t lanes) {
  constexpr size_t kSide = test::kTinySide;
  const size_t channels = dense.size() / (kSide * kSide), blocks = (channels + lanes - 1) / lanes;
  std::vector<float> result(kSide * blocks * kSide * lanes);
  for (size_t c = 0; c < channels; ++c)
    for (size_t h = 0; h < kSide; ++h)
      for (size_t w = 0; w < kSide; ++w)
        result[((h * blocks + c / lanes) * kSide + w) * lanes + c % lanes] =
            dense[(c * kSide + h) * kSide + w];
  return result;
}

class FaceTest : public RunnerTest, public ::testing::WithParamInterface<Face> {
 protected:
  using Bytes = std::vector<uint8_t>;
  static constexpr uint8_t kUntouched = 0xCD;

  FaceTest() {
    if (GetParam().device == "pattern") setenv("MILLRACE_PLUGIN_DIR", MILLRACE_TEST_PLUGIN_DIR, 1);
    use_device(GetParam().device);
  }

  std::shared_ptr<Runner> make_face(size_t batch_size = 1, Options options = {}) {
    options.insert({{"input_tensor_type", std::string(to_string(GetParam().input))},
                    {"output_tensor_type", std::string(to_string(GetParam().output))}});
    return make_runner(options, {.batch_size = static_cast<uint32_t>(batch_size)});
  }

  // Inputs that differ from frame to frame.
  static Tensors numbered_inputs(const Runner& runner, size_t frames) {
    Tensors tensors = inputs(runner, frames, GetParam().input);
    for (size_t frame = 0; frame < frames; ++frame) {
      std::vector<float> values = numbers(frame);
      if (GetParam().input == TensorType::HW) values = blocked(values, 4);
      std::memcpy(data(tensors[frame][0]), values.data(), values.size() * sizeof(float));
      if (GetParam().device == "pattern") data(tensors[frame][0])[0] = mark(frame);
    }
    return tensors;
  }
  static Tensors untouched_outputs(const Runner& runner, size_t frames) {
    Tensors tensors = outputs(runner, frames, GetParam().output);
    for (std::vector<NpuTensor>& frame : tensors)
      std::memset(data(frame[0]), kUntouched, frame[0].get_info().size_in_bytes);
    return tensors;
  }
  static Bytes bytes_of(NpuTensor& tensor) {
    return {data(tensor), data(tensor) + tensor.get_info().size_in_bytes};
  }
  // What the device makes of that frame of numbered_inputs.
  static Bytes result_of(const NpuTensorInfo& output, size_t frame) {
    if (GetParam().device == "null") return Bytes(output.size_in_bytes, kUntouched);
    if (GetParam().device == "pattern") return Bytes(output.size_in_bytes, mark(frame) + 1);
    std::vector<float> values = test::tiny_reference(numbers(frame));
    if (output.tensor_type == TensorType::HW) values = blocked(values, 8);
    Bytes bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  // That the first `frames` outputs hold their results, and nothing else was written.
  static void expect_results(Tensors& tensors, size_t frames) {
    for (size_t frame = 0; frame < tensors.size(); ++frame) {
      NpuTensor& output = tensors[frame][0];
      const Bytes expected = frame < frames ? result_of(output.get_info(), frame)
                                            : Bytes(output.get_info().size_in_bytes, kUntouched);
      const Bytes written = bytes_of(output);
      const auto [at, wanted] = std::mismatch(written.begin(), written.end(), expected.begin());
      if (at == written.end()) continue;
      ADD_FAILURE() << "frame " << frame << " of " << frames << " differs from byte "
                    << at - written.begin() << ": " << int{*at} << ", not " << int{*wanted};
    }
  }

 private:
  static std::vector<float> numbers(size_t frame) {
    return test::tiny_numbers(3 * 4 * 4, static_cast<int>(frame));
  }
  static uint8_t mark(size_t frame) { return static_cast<uint8_t>(16 * frame + 3); }
};

}  // namespace millrace::vartml
