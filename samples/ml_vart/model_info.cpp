#include "model_info.hpp"

#include <filesystem>
#include <iostream>
#include <stdexcept>

#include "common/json_file.hpp"
#include "common/text.hpp"
#include "vart/vart_runner_factory.hpp"

namespace {

using samples::Json;

bool is_integer(vart::DataType type) {
  switch (type) {
    case vart::DataType::UNKNOWN:
    case vart::DataType::BOOLEAN:
    case vart::DataType::BF16:
    case vart::DataType::FP16:
    case vart::DataType::FLOAT32:
      return false;
    default:
      return true;
  }
}

template <class Number>
Json list_of(const std::vector<Number>& numbers) {
  Json list;
  for (const Number number : numbers) {
    Json item;
    item.put_value(number);
    list.push_back({"", item});
  }
  return list;
}

Json describe(const vart::QuantParameters& quantisation) {
  Json json;
  json.put("scale", quantisation.scale);
  json.put("zero_point", quantisation.zero_point);
  json.put("rounding_mode", std::string(vart::to_string(quantisation.rounding_mode)));
  return json;
}

Json describe(const vart::NpuTensorInfo& info, const vart::QuantParameters& quantisation) {
  Json json;
  json.put("data_type", samples::dtype_name(info.data_type, samples::FloatNames::kShort));
  json.put("memory_layout", std::string(vart::to_string(info.memory_layout)));
  if (info.memory_layout == vart::MemoryLayout::GENERIC)
    json.add_child("memory_layout_order", list_of(info.memory_layout_order));
  json.add_child("shape", list_of(info.shape));
  json.add_child("strides", list_of(info.strides));
  json.put("size", info.size);
  json.put("size_in_bytes", info.size_in_bytes);
  if (is_integer(info.data_type)) json.add_child("quantization", describe(quantisation));
  return json;
}

// The tensors of one side in both views; the HW view where there is one.
Json describe_side(const vart::Runner& runner, vart::TensorDirection direction) {
  const auto& cpu = runner.get_tensors_info(direction, vart::TensorType::CPU);
  const auto& hw = runner.get_tensors_info(direction, vart::TensorType::HW);
  Json tensors;
  for (std::size_t i = 0; i < cpu.size(); ++i) {
    std::cout << "Tensor " << i << ":\n" << std::flush;
    const vart::QuantParameters& quantisation = runner.get_quant_parameters(cpu[i].name);
    Json tensor;
    tensor.put("name", cpu[i].name);
    cpu[i].print();
    tensor.add_child("cpu", describe(cpu[i], quantisation));
    for (const vart::NpuTensorInfo& view : hw) {
      if (view.name != cpu[i].name) continue;
      view.print();
      tensor.add_child("hw", describe(view, quantisation));
    }
    tensors.push_back({"", tensor});
  }
  return tensors;
}

std::string info_file_name(const std::string& model_path) {
  std::filesystem::path path = std::filesystem::path(model_path).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // "model/"
  if (path.extension() == ".rai") path.replace_extension();
  return path.filename().string() + "_info.json";
}

}  // namespace

void show_model_info(const std::string& model_path) {
  const std::shared_ptr<vart::Runner> runner = vart::RunnerFactory::create_runner(
      vart::RunnerType::VAIML, model_path,
      {{"input_tensor_type", std::string("CPU")}, {"output_tensor_type", std::string("CPU")}});
  if (runner == nullptr) throw std::runtime_error("no runner was created");
  std::cout << "--- Model info ---\n"
            << "Model      : " << model_path << "\n"
            << "Batch size : " << runner->get_batch_size() << "\n";
  Json json;
  json.put("model-file", model_path);
  json.put("batch_size", runner->get_batch_size());
  std::cout << "Inputs     : " << runner->get_num_input_tensors() << "\n";
  json.add_child("inputs", describe_side(*runner, vart::TensorDirection::INPUT));
  std::cout << "Outputs    : " << runner->get_num_output_tensors() << "\n";
  json.add_child("outputs", describe_side(*runner, vart::TensorDirection::OUTPUT));
  const std::string file = info_file_name(model_path);
  samples::write_json(file, json);
  std::cout << "Wrote " << file << "\n";
}
