// Raw files of tensor bytes. All functions throw std::runtime_error that names the file.
#pragma once

#include <string>
#include <vector>

#include "common/output_file.hpp"
#include "vart/vart_npu_tensor.hpp"

namespace samples {

std::vector<char> read_file(const std::string& path);

// The bytes of whole rows (frames) of one input tensor. Throws unless the file holds a positive
// multiple of its size_in_bytes.
std::vector<char> read_rows(const std::string& path, const vart::NpuTensorInfo& info);

// Writes one tensor of each of the first `rows` frames, one after another.
void write_rows(OutputFile& file, const std::vector<std::vector<vart::NpuTensor>>& batch,
                std::size_t tensor, std::size_t rows);

}  // namespace samples
