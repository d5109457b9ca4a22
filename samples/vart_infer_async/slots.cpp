#include "slots.hpp"

#include <algorithm>
#include <cstring>
#include <iostream>
#include <stdexcept>

#include "common/binary_file.hpp"

using samples::allocate_batch;

namespace {

void copy_rows_to_slot(const std::vector<char>& bytes, std::size_t rows, Slot& slot) {
  const std::size_t batch_size = slot.inputs.size();
  if (rows < batch_size)
    std::cout << "[INFO] copy_frame_to_slot: IFM has " << rows << " full row(s); need "
              << batch_size << " row(s) for frame_index=0 and batch_size=" << batch_size
              << ". Short slots are zero-filled.\n";
  samples::copy_rows(bytes, 0, std::min(rows, batch_size), 0, slot.inputs);
  for (std::size_t frame = rows; frame < batch_size; ++frame) {
    vart::NpuTensor& tensor = slot.inputs[frame].front();
    std::memset(tensor.get_virtual_address(), 0, tensor.get_info().size_in_bytes);
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
  for (Slot& slot : slots) samples::fill_with_random(slot.inputs);
  std::cout << "[INFO] dry-run: filled " << slots.front().inputs.size()
            << " frame(s) with random bytes (no IFM file read).\n";
}

std::size_t fill_from_file(Slots& slots, const std::string& path) {
  const std::vector<char> bytes = samples::read_file(path);
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
    samples::OutputFile file(path);
    samples::write_rows(file, slot.outputs, index, rows);
    file.commit();
    std::cout << "Wrote " << path << " (" << rows * info.size_in_bytes << " bytes, " << rows
              << " batch rows) name=" << info.name << " dtype=" << vart::to_string(info.data_type)
              << " frame=" << iteration << " tensor=" << index << "\n";
  }
}
