// Input and output files of one model of vart_multi_tenancy and vart_multimodel_seq. All functions
// throw std::runtime_error.
#pragma once

#include <string>
#include <vector>

#include "common/batch.hpp"
#include "common/model_config.hpp"

namespace samples {

using TensorInfos = std::vector<vart::NpuTensorInfo>;

// The bytes of every input, in the order of `inputs`. Where the configured names are not exactly
// the model's, prints both in tables, writes the model's to ifm_node_data.txt in the current
// directory, and throws.
std::vector<std::vector<char>> read_ifms(const ModelConfig& config, const TensorInfos& inputs);

// Writes the first `rows` frames of every output and returns the directory:
// <ofm_dir>/ofm_model_<number>/<name>_<AxBxC>_<dtype>.bin
std::string write_ofms(const ModelConfig& config, const Batch& outputs, std::size_t rows);

}  // namespace samples
