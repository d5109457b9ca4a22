// One step of an LSTM for one sequence, in vectors. The instruction set is chosen when it is
// called.
#pragma once

#include <cstddef>

namespace millrace::device::cpu::accelerated {

// Hidden units are computed so many at a time. Arrays with one number per unit have room for whole
// blocks, and those with the four gates hold, block by block, the numbers of the gates i, o, f and
// c one after the other.
inline constexpr size_t kLstmBlock = 16, kLstmGates = 4;
constexpr size_t lstm_blocks(size_t hidden) {
  return (hidden + kLstmBlock - 1) / kLstmBlock;
}

struct LstmStep {
  size_t hidden;
  const float* sums;        // [blocks, gates, units]: of the input and the biases
  const float* recurrence;  // [blocks, hidden, gates, units]
  const float* h;           // [hidden], the output of the step before
  float* next_h;            // [blocks, units], apart from h
  float* c;                 // [blocks, units], the cell state, which changes in place
};
void run_lstm_step(const LstmStep& step) noexcept;

}  // namespace millrace::device::cpu::accelerated
