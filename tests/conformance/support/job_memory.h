// JobMemory: memory for the tensors of one job of the tiny model, in the CPU view.
//
// The arguments share the ownership of the memory, as those of a Buffer do, so that a job that was
// given up may write to it late, and so that a test sees when the job has let go of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "millrace/unit.hpp"
#include "tests/support/tiny_model.h"

namespace millrace::conformance {

class JobMemory {
 public:
  // Value of outputs before a job writes them; the model computes nothing below zero.
  static constexpr float kUntouched = -1.0f;

  // Jobs with different seeds have different inputs.
  explicit JobMemory(uint32_t frames = 1, int seed = 0) {
    for (uint32_t frame = 0; frame < frames; ++frame) {
      std::vector<float>& input = storage_->emplace_back(
          test::tiny_numbers(kInputElements, seed + static_cast<int>(frame)));
      std::vector<float>& output = storage_->emplace_back(kOutputElements, kUntouched);
      inputs_.push_back(shared(input));
      outputs_.push_back(shared(output));
    }
  }

  // Valid as long as this object lives and is not changed.
  JobArgs args() const {
    return {.inputs = inputs_, .outputs = outputs_, .frames = static_cast<uint32_t>(frames())};
  }
  size_t frames() const { return inputs_.size(); }
  const std::vector<float>& input(size_t frame = 0) const { return (*storage_)[2 * frame]; }
  const std::vector<float>& output(size_t frame = 0) const { return (*storage_)[2 * frame + 1]; }

  // Whether all outputs hold what the model computes from the inputs.
  bool is_computed() const {
    bool all = true;
    for (size_t frame = 0; frame < frames(); ++frame)
      all = all && output(frame) == test::tiny_reference(input(frame));
    return all;
  }
  // Whether no output was written to.
  bool is_untouched() const {
    bool all = true;
    for (size_t frame = 0; frame < frames(); ++frame)
      all = all && output(frame) == std::vector<float>(kOutputElements, kUntouched);
    return all;
  }
  // Whether anything but this object and its arguments still refers to the memory.
  bool is_held() const {
    return storage_.use_count() > static_cast<long>(1 + inputs_.size() + outputs_.size());
  }

 private:
  static constexpr size_t kInputElements =
      size_t{test::kTinyInputChannels} * test::kTinySide * test::kTinySide;
  static constexpr size_t kOutputElements =
      size_t{test::kTinyOutputChannels} * test::kTinySide * test::kTinySide;

  TensorArg shared(std::vector<float>& numbers) {
    TensorArg arg{std::span<float>(numbers)};
    arg.owner = storage_;
    return arg;
  }

  // Inputs and outputs in turn.
  std::shared_ptr<std::deque<std::vector<float>>> storage_ =
      std::make_shared<std::deque<std::vector<float>>>();
  std::vector<TensorArg> inputs_, outputs_;
};

}  // namespace millrace::conformance
