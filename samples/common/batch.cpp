#include "common/batch.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>

namespace samples {

Batch allocate_batch(const vart::Runner& runner, const std::vector<vart::NpuTensorInfo>& infos) {
  Batch batch(runner.get_batch_size());
  for (std::vector<vart::NpuTensor>& frame : batch)
    for (const vart::NpuTensorInfo& info : infos) frame.push_back(runner.allocate_npu_tensor(info));
  return batch;
}

void fill_with_random(Batch& batch) {
  static thread_local std::mt19937 generator(std::random_device{}());
  std::uniform_int_distribution<int> any_byte(0, 255);
  for (std::vector<vart::NpuTensor>& frame : batch) {
    for (vart::NpuTensor& tensor : frame) {
      auto* bytes = static_cast<std::uint8_t*>(tensor.get_virtual_address());
      std::generate_n(bytes, tensor.get_info().size_in_bytes,
                      [&] { return static_cast<std::uint8_t>(any_byte(generator)); });
    }
  }
}

void copy_rows(const std::vector<char>& bytes, std::size_t first, std::size_t count,
               std::size_t tensor, Batch& batch) {
  for (std::size_t row = 0; row < count; ++row) {
    vart::NpuTensor& target = batch[row][tensor];
    const std::size_t row_bytes = target.get_info().size_in_bytes;
    std::memcpy(target.get_virtual_address(), bytes.data() + (first + row) * row_bytes, row_bytes);
  }
}

}  // namespace samples
