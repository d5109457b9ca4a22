#include "common/binary_file.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace samples {

std::vector<char> read_file(const std::string& path) {
  // A directory opens, and reads as empty.
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path))
    throw std::runtime_error("cannot open the IFM file " + path);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw std::runtime_error("cannot read the IFM file " + path);
  return bytes;
}

std::vector<char> read_rows(const std::string& path, const vart::NpuTensorInfo& info) {
  std::vector<char> bytes = read_file(path);
  if (bytes.empty() || bytes.size() % info.size_in_bytes != 0)
    throw std::runtime_error("the IFM file " + path + " has " + std::to_string(bytes.size()) +
                             " bytes, which is no positive multiple of the " +
                             std::to_string(info.size_in_bytes) + " bytes of tensor " + info.name);
  return bytes;
}

void write_rows(OutputFile& file, const std::vector<std::vector<vart::NpuTensor>>& batch,
                std::size_t tensor, std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row) {
    const vart::NpuTensor& output = batch[row][tensor];
    file.stream().write(static_cast<const char*>(output.get_virtual_address()),
                        static_cast<std::streamsize>(output.get_info().size_in_bytes));
  }
}

}  // namespace samples
