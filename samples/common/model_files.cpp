#include "common/model_files.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <stdexcept>

#include "common/binary_file.hpp"
#include "common/table.hpp"
#include "common/text.hpp"

namespace samples {
namespace {

constexpr const char* kNodeFile = "ifm_node_data.txt";

bool names_match(const ModelConfig& config, const TensorInfos& inputs) {
  return config.ifm_files.size() == inputs.size() &&
         std::all_of(inputs.begin(), inputs.end(), [&](const vart::NpuTensorInfo& info) {
           return config.ifm_files.count(info.name) != 0;
         });
}

std::vector<TableRow> rows_of(const TensorInfos& inputs) {
  std::vector<TableRow> rows = {{"IFM node", "Shape", "Type", "Bytes per frame"}};
  for (const vart::NpuTensorInfo& info : inputs)
    rows.push_back({info.name, shape_text(info.shape),
                    dtype_name(info.data_type, FloatNames::kLong),
                    std::to_string(info.size_in_bytes)});
  return rows;
}

std::vector<TableRow> rows_of(const ModelConfig& config) {
  std::vector<TableRow> rows = {{"Configured node", "File"}};
  for (const auto& [name, file] : config.ifm_files) rows.push_back({name, file});
  return rows;
}

[[noreturn]] void report_mismatch(const ModelConfig& config, const TensorInfos& inputs) {
  print_table(std::cout, "IFM nodes of " + config.path, rows_of(inputs));
  print_table(std::cout, "ifm_node_file_map", rows_of(config));
  OutputFile file(kNodeFile);
  print_table(file.stream(), "IFM nodes of " + config.path, rows_of(inputs));
  file.commit();
  throw std::runtime_error("model " + std::to_string(config.number) +
                           ": the names in ifm_node_file_map are not the model's IFM nodes (see " +
                           kNodeFile + ")");
}

}  // namespace

std::vector<std::vector<char>> read_ifms(const ModelConfig& config, const TensorInfos& inputs) {
  if (!names_match(config, inputs)) report_mismatch(config, inputs);
  std::vector<std::vector<char>> ifms;
  for (const vart::NpuTensorInfo& info : inputs)
    ifms.push_back(read_rows(config.ifm_files.at(info.name), info));
  return ifms;
}

std::string write_ofms(const ModelConfig& config, const Batch& outputs, std::size_t rows) {
  const std::filesystem::path directory =
      std::filesystem::path(config.ofm_dir) / ("ofm_model_" + std::to_string(config.number));
  std::filesystem::create_directories(directory);
  for (std::size_t i = 0; i < outputs.front().size(); ++i) {
    const vart::NpuTensorInfo& info = outputs.front()[i].get_info();
    const std::string name = file_name_part(info.name) + "_" + shape_text(info.shape) + "_" +
                             dtype_name(info.data_type, FloatNames::kLong) + ".bin";
    OutputFile file((directory / name).string());
    write_rows(file, outputs, i, rows);
    file.commit();
  }
  return directory.lexically_normal().string();
}

}  // namespace samples
