#include "slots.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <stdexcept>

namespace {

Batch allocate_batch(const vart::Runner& runner, const std::vector<vart::NpuTensorInfo>& infos) {
  Batch batch(runner.get_batch_size());
  for (std::vector<vart::NpuTensor>& frame : batch)
    for (const vart::NpuTensorInfo& info : infos) frame.push_back(runner.allocate_npu_tensor(info));
  return batch;
}

std::vector<char> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open the IFM file " + path);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw std::runtime_error("cannot read the IFM file " + path);
  return bytes;
}

void copy_rows_to_slot(const std::vector<char>& bytes, std::size_t rows, Slot& slot) {
  const std::size_t batch_size = slot.inputs.size();
  if (rows < batch_size)
    std::cout << "[INFO] copy_frame_to_slot: IFM has " << rows << " full row(s); need "
              << batch_size << " row(s) for frame_index=0 and batch_size=" << batch_size
              << ". Short slots are zero-filled.\n";
  for (std::size_t frame = 0; frame < batch_size; ++frame) {
    vart::NpuTensor& tensor = slot.inputs[frame].front();
    const std::size_t row_bytes = tensor.get_info().size_in_bytes;
    if (frame < rows)
      std::memcpy(tensor.get_virtual_address(), bytes.data() + frame * row_bytes, row_bytes);
    else
      std::memset(tensor.get_virtual_address(), 0, row_bytes);
  }
}

}  // namespace

Slots allocate_slots(const vart::Runner& runner, const TensorTypes& types) {
  if (runner.get_num_input_tensors() != 1)
    throw std::runtime_error("this program takes models with exactly one input tensor, this has " +
                             std::to_string(runner.get_num_input_tensors()));
  Slots slots;
  for (Slot& slot : slots) {
    slot.inputs =
        allocate_batch(runner, runner.get_tensors_info(vart::TensorDirection::INPUT, types.input));
    slot.outputs = allocate_batch(
        runner, runner.get_tensors_info(vart::TensorDirection::OUTPUT, types.output));
  }
  return slots;
}

void fill_with_random(Slots& slots) {
  std::mt19937 generator(std::random_device{}());
  std::uniform_int_distribution<int> any_byte(0, 255);
  for (Slot& slot : slots) {
    for (std::vector<vart::NpuTensor>& frame : slot.inputs) {
      auto* bytes = static_cast<std::uint8_t*>(frame.front().get_virtual_address());
      std::generate_n(bytes, frame.front().get_info().size_in_bytes,
                      [&] { return static_cast<std::uint8_t>(any_byte(generator)); });
    }
  }
  std::cout << "[INFO] dry-run: filled " << slots.front().inputs.size()
            << " frame(s) with random bytes (no IFM file read).\n";
}

std::size_t fill_from_file(Slots& slots, const std::string& path) {
  const std::vector<char> bytes = read_file(path);
  const std::size_t row_bytes = slots.front().inputs.front().front().get_info().size_in_bytes;
  const std::size_t rows = bytes.size() / row_bytes;
  if (rows == 0)
    throw std::runtime_error("the IFM file " + path + " has " + std::to_string(bytes.size()) +
                             " bytes, one row takes " + std::to_string(row_bytes));
  for (Slot& slot : slots) copy_rows_to_slot(bytes, rows, slot);
  return rows;
}

void write_outputs(const Slot& slot, int iteration, std::size_t rows) {
  for (std::size_t index = 0; index < slot.outputs.front().size(); ++index) {
    const vart::NpuTensorInfo& info = slot.outputs.front()[index].get_info();
    const std::string path =
        "output_p1_f" + std::to_string(iteration) + "_" + std::to_string(index) + ".bin";
    std::ofstream file(path, std::ios::binary);
    for (std::size_t row = 0; row < rows; ++row) {
      const vart::NpuTensor& tensor = slot.outputs[row][index];
      file.write(static_cast<const char*>(tensor.get_virtual_address()),
                 static_cast<std::streamsize>(info.size_in_bytes));
    }
    file.close();
    if (!file) throw std::runtime_error("cannot write " + path);
    std::cout << "Wrote " << path << " (" << rows * info.size_in_bytes << " bytes, " << rows
              << " batch rows) name=" << info.name << " dtype=" << vart::to_string(info.data_type)
              << " frame=" << iteration << " tensor=" << index << "\n";
  }
}
