// By these functions the runtime tells the recorder which models a program loads and which jobs it
// submits. The recorder keeps them in a folder (docs/record.md), from which `millrace replay` runs
// the jobs again. MILLRACE_RECORD starts it (record_program.h). It observes the table of hooks
// (base/hooks.h), for submits, starts and completions.
//
// Each function may only be called if on() returns true, so that a process that is not recorded
// pays one relaxed load. None fails: an error is logged, and ends the recording. Inputs are
// read by the thread that runs the job, before it does, and outputs by the thread that completes
// it, before the program learns of that. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "millrace/tensor.hpp"

namespace millrace::record {

namespace record_internal {
extern std::atomic<bool> active;
}  // namespace record_internal

// Returns whether the process is recorded.
inline bool on() noexcept {
  return record_internal::active.load(std::memory_order_relaxed);
}

// A loaded model, as jobs name it: the address of what was made of the archive.
using ModelKey = const void*;

struct Model {
  std::string_view name;
  std::span<const std::byte> archive;  // in the file form
  // The shapes with which the archive was loaded; empty if it was loaded without a profile.
  std::string_view profile;
};

// The memory of one tensor of a job.
struct Tensor {
  std::string_view name;
  View view = View::kCpu;
  const void* data = nullptr;  // null: it is not kept
  size_t bytes = 0;            // of an output with open dimensions, all that may be written
  // The dimensions of an input with open ones.
  std::optional<TensorShape> shape{};
  // For an output with open dimensions: where the job writes them, or null if nobody wants them,
  // and the size of an element.
  bool open_output = false;
  const TensorShape* written_shape = nullptr;
  size_t element_bytes = 0;
};

// Keeps the archive, and expects jobs of `key` from now on, instead of those of an earlier model
// that had the same address.
void note_model(ModelKey key, const Model& model) noexcept;
// From now on jobs of `key` are not kept.
void forget_model(ModelKey key) noexcept;

// Announces a job: this thread fills its task, and submits it next. Jobs that are
// filled one after another are submitted in the same order. Tensors are ordered frame by frame.
// Does nothing for jobs of a model that was not noted.
void begin_job(ModelKey key, uint32_t frames, std::span<const Tensor> inputs,
               std::span<const Tensor> outputs) noexcept;

}  // namespace millrace::record
