#include "tests/nrt/face_uses.h"

#include <chrono>
#include <cstring>
#include <exception>
#include <span>

#include "millrace/millrace.hpp"
#include "nrt/nrt.h"
#include "tests/support/tiny_model.h"
#include "vart/vart_runner_factory.hpp"

namespace millrace::test {
namespace {

constexpr size_t kInputBytes = kTinyInputChannels * kTinySide * kTinySide * sizeof(float);
constexpr size_t kOutputBytes = kTinyOutputChannels * kTinySide * kTinySide * sizeof(float);
using Numbers = std::vector<float>;

Numbers some_numbers() {
  return tiny_numbers(kInputBytes / sizeof(float), 3);
}

std::string compare(const Numbers& result) {
  return result == tiny_reference(some_numbers()) ? "" : "another result";
}

using Tensors = std::vector<std::vector<vart::NpuTensor>>;

Tensors allocate(const vart::Runner& runner, vart::TensorDirection direction) {
  Tensors tensors(1);
  for (const vart::NpuTensorInfo& info : runner.get_tensors_info(direction, vart::TensorType::CPU))
    tensors[0].push_back(runner.allocate_npu_tensor(info));
  return tensors;
}

std::string run(vart::Runner& runner) {
  const Numbers numbers = some_numbers();
  Tensors inputs = allocate(runner, vart::TensorDirection::INPUT);
  Tensors outputs = allocate(runner, vart::TensorDirection::OUTPUT);
  std::memcpy(inputs[0][0].get_virtual_address(), numbers.data(), kInputBytes);
  if (runner.execute(inputs, outputs) != vart::StatusCode::SUCCESS) return "execute failed";
  const vart::JobHandle job = runner.execute_async(inputs, outputs);
  if (runner.wait(job, std::chrono::minutes(1)) != vart::StatusCode::SUCCESS) return "wait failed";
  Numbers result(kOutputBytes / sizeof(float));
  std::memcpy(result.data(), outputs[0][0].get_virtual_address(), kOutputBytes);
  return compare(result);
}

std::string use_vart(const TinyArchive& archive) {
  try {
    return run(*vart::RunnerFactory::create_runner(
        vart::RunnerType::VAIML, archive.path,
        {{"input_tensor_type", std::string("CPU")}, {"output_tensor_type", std::string("CPU")}}));
  } catch (const std::exception& error) {
    return error.what();
  }
}

// A model with its tensors, as far as they have been made.
struct NrtModel {
  nrt_model_t* model = nullptr;
  nrt_tensor_t *input = nullptr, *output = nullptr;
  nrt_tensor_set_t *inputs = nullptr, *outputs = nullptr;

  ~NrtModel() {
    nrt_destroy_tensor_set(&inputs);
    nrt_destroy_tensor_set(&outputs);
    nrt_tensor_free(&input);
    nrt_tensor_free(&output);
    if (model != nullptr) nrt_unload(model);
    nrt_close();
  }

  NRT_STATUS make(const TinyArchive& archive) {
    const NRT_STATUS loaded = nrt_load(archive.bytes.data(), archive.bytes.size(), 0, 1, &model);
    if (loaded != NRT_SUCCESS) return loaded;
    for (const NRT_STATUS status :
         {nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, kInputBytes, "i", &input),
          nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, kOutputBytes, "o", &output),
          nrt_allocate_tensor_set(&inputs), nrt_allocate_tensor_set(&outputs),
          nrt_add_tensor_to_tensor_set(inputs, kTinyInput, input),
          nrt_add_tensor_to_tensor_set(outputs, kTinyOutput, output)})
      if (status != NRT_SUCCESS) return status;
    return NRT_SUCCESS;
  }
};

std::string use_nrt(const TinyArchive& archive) {
  if (const NRT_STATUS status = nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""))
    return std::string("nrt_init: ") + nrt_get_status_as_str(status);
  NrtModel made;
  if (const NRT_STATUS status = made.make(archive))
    return std::string("load: ") + nrt_get_status_as_str(status);
  const Numbers numbers = some_numbers();
  Numbers result(kOutputBytes / sizeof(float));
  nrt_tensor_write(made.input, numbers.data(), 0, kInputBytes);
  if (const NRT_STATUS status = nrt_execute(made.model, made.inputs, made.outputs))
    return std::string("nrt_execute: ") + nrt_get_status_as_str(status);
  nrt_tensor_read(made.output, result.data(), 0, kOutputBytes);
  return compare(result);
}

std::string use_native(const TinyArchive& archive) {
  auto device = Device::open("cpu");
  if (!device.ok()) return device.status().to_string();
  auto model = device->load(archive.path);
  if (!model.ok()) return model.status().to_string();
  auto unit = device->create_unit({});
  if (!unit.ok()) return unit.status().to_string();
  const Numbers numbers = some_numbers();
  Numbers result(kOutputBytes / sizeof(float));
  const TensorArg inputs[] = {std::span(numbers)}, outputs[] = {std::span(result)};
  const Status status = unit->execute(*model, {.inputs = inputs, .outputs = outputs});
  return status.ok() ? compare(result) : status.to_string();
}

}  // namespace

std::vector<FaceUse> face_uses() {
  return {{"Vart", use_vart}, {"Nrt", use_nrt}, {"Native", use_native}};
}

}  // namespace millrace::test
