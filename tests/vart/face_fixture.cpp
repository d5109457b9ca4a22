#include "tests/vart/face_fixture.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace millrace::vartml {
namespace {

std::vector<float> numbers(size_t frame) {
  return test::tiny_numbers(3 * 4 * 4, static_cast<int>(frame));
}

uint8_t mark(size_t frame) {
  return static_cast<uint8_t>(16 * frame + 3);
}

}  // namespace

std::string name_of(const Face& face) {
  return face.device + "_" + std::string(to_string(face.input)) + "_" +
         std::string(to_string(face.output));
}

std::vector<Face> every_face() {
  std::vector<Face> faces;
  for (const char* device : {"null", "pattern", "cpu"})
    for (const TensorType input : {TensorType::CPU, TensorType::HW})
      for (const TensorType output : {TensorType::CPU, TensorType::HW})
        faces.push_back({device, input, output});
  return faces;
}

std::vector<float> blocked(const std::vector<float>& dense, size_t lanes) {
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

FaceTest::FaceTest() {
  if (GetParam().device == "pattern") setenv("MILLRACE_PLUGIN_DIR", MILLRACE_TEST_PLUGIN_DIR, 1);
  use_device(GetParam().device);
}

std::shared_ptr<Runner> FaceTest::make_face(size_t batch_size, Options options) {
  options.insert({{"input_tensor_type", std::string(to_string(GetParam().input))},
                  {"output_tensor_type", std::string(to_string(GetParam().output))}});
  return make_runner(options, {.batch_size = static_cast<uint32_t>(batch_size)});
}

Tensors FaceTest::numbered_inputs(const Runner& runner, size_t frames) {
  Tensors tensors = inputs(runner, frames, GetParam().input);
  for (size_t frame = 0; frame < frames; ++frame) {
    std::vector<float> values = numbers(frame);
    if (GetParam().input == TensorType::HW) values = blocked(values, 4);
    std::memcpy(data(tensors[frame][0]), values.data(), values.size() * sizeof(float));
    if (GetParam().device == "pattern") data(tensors[frame][0])[0] = mark(frame);
  }
  return tensors;
}

Tensors FaceTest::untouched_outputs(const Runner& runner, size_t frames) {
  Tensors tensors = outputs(runner, frames, GetParam().output);
  for (std::vector<NpuTensor>& frame : tensors)
    std::memset(data(frame[0]), kUntouched, frame[0].get_info().size_in_bytes);
  return tensors;
}

FaceTest::Bytes FaceTest::bytes_of(NpuTensor& tensor) {
  return {data(tensor), data(tensor) + tensor.get_info().size_in_bytes};
}

FaceTest::Bytes FaceTest::result_of(const NpuTensorInfo& output, size_t frame) {
  if (GetParam().device == "null") return Bytes(output.size_in_bytes, kUntouched);
  if (GetParam().device == "pattern") return Bytes(output.size_in_bytes, mark(frame) + 1);
  std::vector<float> values = test::tiny_reference(numbers(frame));
  if (output.tensor_type == TensorType::HW) values = blocked(values, 8);
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

void FaceTest::expect_results(Tensors& tensors, size_t frames) {
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

}  // namespace millrace::vartml
