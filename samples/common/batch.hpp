// The tensors of one batch, as execute takes them: frames, each with one tensor per tensor of the
// model.
#pragma once

#include <cstddef>
#include <vector>

#include "vart/vart_runner_factory.hpp"

namespace samples {

using Batch = std::vector<std::vector<vart::NpuTensor>>;

// Tensors that the runner allocates, for a whole batch. They may outlive the runner.
Batch allocate_batch(const vart::Runner& runner, const std::vector<vart::NpuTensorInfo>& infos);

// Fills every tensor with random bytes.
void fill_with_random(Batch& batch);

// Copies `count` rows of `bytes`, from row `first` on, into one tensor of the first frames.
void copy_rows(const std::vector<char>& bytes, std::size_t first, std::size_t count,
               std::size_t tensor, Batch& batch);

}  // namespace samples
