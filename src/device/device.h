// Device, Program, Context: the interface of everything that computes.
//
//   Device   a backend instance. One per name and process (see registry.h). Owns the lanes.
//   Program  a model loaded on a device, ready to run; immutable and shared between threads.
//   Context  scratch memory and primitive state of one running job; used by one thread at a time.
//
// A porter implements these three classes and registers a factory (docs/devices.md); tests/device
// holds the suite that every device must pass.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "millrace/tensor.hpp"
#include "queue/lanes/lanes.h"
#include "queue/requests/acceptance_order.h"
#include "queue/requests/run_control.h"

namespace millrace::ranks {
class Communicator;
}

namespace millrace::device {

using millrace::View;
enum class Direction : uint8_t { kInput = 0, kOutput = 1 };
// The work that a request asks of a device: to run a program, or to move data.
enum class Work : uint8_t { kJob = 0, kTransfer = 1 };

// The memory of one boundary tensor of one frame: at least the bytes of the view, usually aligned
// to 64 bytes (a program must accept any alignment that its element type allows).
struct Binding {
  void* data = nullptr;
  View view = View::kHw;
  // Used only for a tensor with open dimensions (kOpenDimension): the size of the memory, and the
  // dimensions in this job, which the caller states for an input and the program for an output.
  // Neither is null for such a tensor. An output that does not fit into its memory has its
  // dimensions stated all the same, and the run fails with kInvalidArgument.
  size_t bytes = 0;
  TensorShape* shape = nullptr;
};

// One operator as the device runs it, in order.
// What decided which kernel runs a step, where a node has several.
enum class KernelChoice : uint8_t {
  kOnlyOne,   // there was nothing to choose
  kRule,      // the rule of the device
  kMeasured,  // times that were measured on this machine
};

struct StepInfo {
  std::string node;            // name of the graph's node; empty for a step the device added
  std::string operation;       // for example "Conv", "Reorder"
  std::string implementation;  // the kernel that runs it, as the kernel library names it
  std::string output;          // the tensor it writes or works towards; empty if it has no name
  uint32_t partition = 0;      // of the model; never smaller than that of the step before
  // The precision it computes floating point numbers in; nothing if its first operand is integers.
  std::optional<graph::Precision> precision = graph::Precision::kFp32;
  // How its operands and its result lie in memory, as the device describes it: "f32:abcd"; several
  // with a comma between them. Empty where the device does not say.
  std::string reads = {}, writes = {};
  // Why the device added the step; of a step of a node, what its kernel was chosen by, if by times.
  std::string reason = {};
  KernelChoice chosen_by = KernelChoice::kOnlyOne;
};

struct ProgramInfo {
  std::string device;
  graph::Precision precision;  // what the program computes in
  std::string note;            // why that differs from the archive's precision; else empty
  std::vector<StepInfo> steps;
  uint64_t weight_bytes = 0;   // packed weights, shared by all contexts
  uint64_t context_bytes = 0;  // arena and scratch of one context
};

class Context {
 public:
  virtual ~Context() = default;
  // Runs one frame on the calling thread. One binding per boundary tensor, in the model's order,
  // each in a view that the program accepts. Inputs are read only. Outputs are undefined on
  // failure.
  //
  // Before step i of ProgramInfo::steps: returns control.stop_status() when
  // control.stop_requested(), which is a failure, too; otherwise calls control.begin_step(i), by
  // which a watchdog sees progress and a report names the operator. Before the first step of each
  // partition it calls control.begin_partition(partition, i), and only then
  // control.stop_requested(). Steps that this frame does not need are skipped. A frame whose last
  // step is done has succeeded, even if a stop was requested in the meantime.
  virtual Status run(std::span<const Binding> inputs, std::span<const Binding> outputs,
                     queue::RunControl& control) noexcept = 0;
};

class Program {
 public:
  virtual ~Program() = default;
  virtual const graph::CompiledModel& model() const noexcept = 0;
  // Returns whether a boundary tensor may be bound in this view without conversion. True for the HW
  // view of every boundary that has one, and for the CPU view of all other boundaries and of those
  // whose HW view is requantised: the runtime never converts to such a view. It converts otherwise.
  virtual bool accepts(Direction direction, size_t index, View view) const noexcept = 0;
  virtual Result<std::unique_ptr<Context>> create_context() const = 0;
  virtual ProgramInfo info() const = 0;
  // Whether it was loaded for a rank. Then jobs run one at a time, in the same order on every rank.
  virtual bool is_of_rank() const noexcept { return false; }
  // For a program of a rank: a job was accepted and will not run here, so that the collectives of
  // the next one would meet those of this one on other ranks. The next one fails instead, on every
  // rank. Does not block.
  virtual void skip_job() const noexcept {}
};

// The options apply only if the process has no device of that name yet.
struct DeviceOptions {
  uint32_t lanes = 0;  // 0: MILLRACE_LANES, or the core budget of the process
  // Whether BF16 models are computed in BF16 wherever the processor can at all, also where FP32 is
  // faster: for those who measure how exact a model is. MILLRACE_NO_BF16=1 takes precedence.
  bool stated_precision = false;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;  // "cpu", "null"
  // Human-readable: what computes, in which version.
  virtual std::string description() const { return name(); }
  // Prepares the model: chooses kernels, packs weights. Blocks. kUnsupported names every node this
  // device has no kernel for.
  virtual Result<std::shared_ptr<const Program>> load(
      std::shared_ptr<const graph::CompiledModel> model) = 0;
  // The same for a model of which each rank of `communicator` runs its part: the collectives of the
  // model run on it. The jobs of the program are to be run one at a time, in the same order on
  // every rank. load() accepts a model with collectives only if they need a single rank. A device
  // that does not compute leaves collectives out, too: by default, this is load().
  virtual Result<std::shared_ptr<const Program>> load_for_rank(
      std::shared_ptr<const graph::CompiledModel> model,
      std::shared_ptr<ranks::Communicator> communicator);
  virtual queue::Lanes& lanes() noexcept = 0;
  // The data mover: copies between memory of the host and of the device, or within either, on the
  // calling thread. The ranges may overlap. Between two pieces it reports a step to `control`, and
  // returns its stop_status() once a stop is requested; then the remaining bytes are unchanged.
  virtual Status transfer(void* to, const void* from, size_t bytes,
                          queue::RunControl& control) noexcept;
  // For a device that counts its requests: returns the order in which requests of that kind are
  // accepted, which is for all units of such requests (queue::UnitOptions). Null for a device that
  // does not count.
  virtual std::shared_ptr<queue::AcceptanceOrder> acceptance_order(Work) noexcept {
    return nullptr;
  }
};

}  // namespace millrace::device
