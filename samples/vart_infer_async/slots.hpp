// The tensors of the two jobs that are in flight, and the files they are filled from and saved to.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "common/batch.hpp"
#include "vart/vart_runner_factory.hpp"

struct Slot {
  samples::Batch inputs;
  samples::Batch outputs;
};

inline constexpr std::size_t kSlots = 2;
using Slots = std::array<Slot, kSlots>;

struct TensorTypes {
  vart::TensorType input;
  vart::TensorType output;
};

// Tensors that the runner allocates, for both slots. They may outlive the runner. Throws
// std::runtime_error unless the model has exactly one input.
Slots allocate_slots(const vart::Runner& runner, const TensorTypes& types);

// Fills all inputs with random bytes.
void fill_with_random(Slots& slots);

// Fills both slots with the first rows of a raw file, a row for each frame of the batch; frames the
// file has no row for stay zero. Returns the rows in the file. Throws std::runtime_error when it
// cannot be read or holds less than one row.
std::size_t fill_from_file(Slots& slots, const std::string& path);

// Writes the outputs of `iteration`, one file per output tensor, in the current directory: the
// first `rows` frames, one after the other. Throws std::runtime_error.
void write_outputs(const Slot& slot, int iteration, std::size_t rows);
