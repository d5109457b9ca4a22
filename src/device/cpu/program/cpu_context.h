// The arena of one running job, and oneDNN's memory objects over it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/cpu/program/cpu_program.h"

namespace millrace::device::cpu {

class CpuContext final : public Context {
 public:
  // May throw what guarded() catches.
  explicit CpuContext(std::shared_ptr<const CpuProgram> program);
  Status run(std::span<const Binding> inputs, std::span<const Binding> outputs,
             queue::RunControl& control) noexcept override;

 private:
  // The memory objects over a buffer that may lie in a caller's tensor.
  struct Movable {
    BufferId buffer;
    struct Object {
      dnnl::memory memory;
      size_t offset;  // in the buffer
    };
    std::vector<Object> objects;
  };
  struct FreeArena {
    void operator()(std::byte* arena) const noexcept;
  };

  void place_buffers();
  void make_arguments();
  Status check(Direction direction, std::span<const Binding> bindings) const;
  void bind(std::span<const Binding> inputs, std::span<const Binding> outputs) noexcept;
  Status run_frame(std::span<const Binding> inputs, std::span<const Binding> outputs,
                   queue::RunControl& control) noexcept;
  // Returns early if a step sets `nans.lost_operand`.
  Status run_steps(std::span<const Binding> inputs, std::span<const Binding> outputs,
                   queue::RunControl& control, OpenMpThreads& threads, NanWatch& nans) noexcept;
  // Waits until the first `count` collectives of the frame have ended. Returns their first failure.
  Status await_collectives(uint32_t count, queue::RunControl& control) noexcept;

  const std::shared_ptr<const CpuProgram> program_;
  const uint32_t helpers_;  // lanes that can take part in one of its steps beside the job's own
  const dnnl::stream stream_;
  std::unique_ptr<std::byte, FreeArena> arena_;
  std::vector<std::byte*> buffers_;  // by BufferId; of the job that runs
  std::vector<Movable> movable_;
  std::vector<dnnl::memory> memories_;
  std::vector<std::vector<dnnl_exec_arg_t>> arguments_;  // by step
  // The collectives that a frame begins: their steps, and the calls of the one that runs.
  std::vector<uint32_t> begun_steps_;
  std::vector<CollectiveThread::Call> calls_;
  uint32_t begun_ = 0, awaited_ = 0;
};

}  // namespace millrace::device::cpu
