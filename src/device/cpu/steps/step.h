// Step: one operation of a program, in the form in which contexts run it.
//
// Steps are made at load, then immutable and shared by all contexts; what differs between contexts
// (addresses, oneDNN's memory objects) reaches them through RunState.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "device/cpu/dnnl/calls.h"
#include "device/cpu/dnnl/invalid_flag.h"

namespace millrace::queue {
class RunControl;
}

namespace millrace::device::cpu {

// A stretch of memory of a program: part of the arena, a constant, or a tensor of the caller.
using BufferId = uint32_t;

// A buffer and how the tensor lies in it.
struct Operand {
  BufferId buffer = 0;
  Desc desc;
};

// An operand of a primitive, by oneDNN's argument index. It begins `offset` bytes after the start
// of its buffer.
struct Argument {
  int index = 0;
  Operand operand;
  size_t offset = 0;
};

// Records whether a frame has NaNs. oneDNN's maximum and minimum lose them (careful_step.h).
struct NanWatch {
  // Steps run in the way that keeps NaN: from the start where no flag shows that there is one.
  bool is_careful = !kFlagShowsNan;
  // A step has overwritten an operand before it met the NaN: the frame is to be run again.
  bool lost_operand = false;
};

struct RunState {
  queue::RunControl& control;  // of the job; for steps that wait for something
  const dnnl::stream& stream;
  std::span<std::byte* const> buffers;         // by BufferId
  std::span<const dnnl_exec_arg_t> arguments;  // of the step that runs: one per arguments()
  NanWatch* nans = nullptr;                    // of the frame that runs

  template <class T>
  const T* input(BufferId id) const noexcept {
    return reinterpret_cast<const T*>(buffers[id]);
  }
  template <class T>
  T* output(BufferId id) const noexcept {
    return reinterpret_cast<T*>(buffers[id]);
  }
};

class Step {
 public:
  virtual ~Step() = default;
  // The operands for which contexts make memory objects of oneDNN.
  virtual std::span<const Argument> arguments() const noexcept { return {}; }
  // For reports: each operand of the operation once, even if arguments() has several parts of it.
  virtual std::span<const Argument> operands() const noexcept { return arguments(); }
  // Every buffer the step reads or writes.
  virtual std::vector<BufferId> buffers() const = 0;
  // Whether it mostly waits for other ranks, so that steps that use none of its memory may run
  // beside it, on another thread.
  virtual bool waits_for_ranks() const noexcept { return false; }
  // Allocates nothing. May run on several threads at once, each with its own state.
  virtual Status run(const RunState& state) const noexcept = 0;
};

// A primitive of oneDNN.
class PrimitiveStep final : public Step {
 public:
  PrimitiveStep(dnnl::primitive primitive, std::vector<Argument> arguments)
      : primitive_(std::move(primitive)), arguments_(std::move(arguments)) {}
  std::span<const Argument> arguments() const noexcept override { return arguments_; }
  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> ids;
    for (const Argument& argument : arguments_) ids.push_back(argument.operand.buffer);
    return ids;
  }
  Status run(const RunState& state) const noexcept override {
    return execute(primitive_, state.stream, state.arguments);
  }

 private:
  dnnl::primitive primitive_;
  std::vector<Argument> arguments_;
};

}  // namespace millrace::device::cpu
