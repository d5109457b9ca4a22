// Device, Program, Context: the interface of backends.
//
//   Device   a backend instance, one per name and process (see registry.h). It owns the lanes.
//   Program  a model loaded on a device, ready to run; immutable and shared between threads.
//   Context  scratch memory and kernel state of one running job; used by one thread at a time.
//
// A new backend implements these three classes and registers a factory (docs/devices.md).
// tests/device has the conformance suite that every device must pass.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/capabilities.h"
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
// The kind of work that a device does for a request: running a program, or transferring data.
enum class Work : uint8_t { kJob = 0, kTransfer = 1 };

// The memory of one boundary tensor of one frame. It has at least the bytes of the view, and is
// usually aligned to 64 bytes (a program must accept any alignment that the element type allows).
struct Binding {
  void* data = nullptr;
  View view = View::kHw;
  // Used only for a tensor with open dimensions (kOpenDimension): the size of the memory, and the
  // dimensions in this job, which the caller sets for an input and the program for an output.
  // `shape` is not null for such a tensor. If an output does not fit into its memory, the program
  // still sets its dimensions, and the run fails with kInvalidArgument.
  size_t bytes = 0;
  TensorShape* shape = nullptr;
};

// The basis on which a device chose the kernel of a step, where a node has several.
enum class KernelChoice : uint8_t {
  kOnlyOne,   // there was nothing to choose, or the device does not say
  kRule,      // the rule of the device
  kMeasured,  // times that were measured on this machine
};

// The description of one step of a program, an operator as the device runs it.
struct StepInfo {
  std::string node;            // name of the graph's node; empty for a step the device added
  std::string operation;       // for example "Conv", "Reorder"
  std::string implementation;  // the kernel that runs it, as the kernel library names it
  std::string output;          // the tensor that it writes or contributes to; empty if unnamed
  uint32_t partition = 0;      // index in the model; never smaller than that of the previous step
  // The precision of its floating-point computation; not set if its first operand has integers.
  std::optional<graph::Precision> precision = graph::Precision::kFp32;
  // The types and layouts of its operands and of its result, as the device names them ("f32:abcd"),
  // separated by commas. Empty if the device does not state them.
  std::string reads = {}, writes = {};
  // For a step that the device added, why; for a step of a node, why it has its kernel, with the
  // measured times if those decided. Empty if the device does not say.
  std::string reason = {};
  // The basis on which a step of a node has its kernel.
  KernelChoice chosen_by = KernelChoice::kOnlyOne;
};

struct ProgramInfo {
  std::string device;
  graph::Precision precision;  // the precision in which the program computes
  std::string note;            // why that differs from the archive's precision; otherwise empty
  std::vector<StepInfo> steps;
  uint64_t weight_bytes = 0;   // packed weights, shared by all contexts
  uint64_t context_bytes = 0;  // arena and scratch of one context
};

class Context {
 public:
  virtual ~Context() = default;
  // Runs one frame on the calling thread. `inputs` and `outputs` have one binding per boundary
  // tensor, in the model's order, each in a view that the program accepts. Inputs are only read.
  // Outputs are undefined on failure.
  //
  // Before step i of ProgramInfo::steps, an implementation checks control.stop_requested() and, if
  // it is true, returns control.stop_status(), which is a failure. Otherwise it calls
  // control.begin_step(i), so that a watchdog sees progress and reports can name the operator.
  // Before the first step of each partition it calls control.begin_partition(partition, i), and
  // only then control.stop_requested(). Steps that this frame does not need are skipped. A frame
  // whose last step is done has succeeded, even if a stop was requested in the meantime.
  virtual Status run(std::span<const Binding> inputs, std::span<const Binding> outputs,
                     queue::RunControl& control) noexcept = 0;
};

class Program {
 public:
  virtual ~Program() = default;
  virtual const graph::CompiledModel& model() const noexcept = 0;
  // Returns whether a boundary tensor may be bound in this view without conversion by the runtime.
  // Must be true for the HW view of every boundary that has one, and for the CPU view of boundaries
  // that have none or whose HW view is requantised. If it is false, the runtime converts between
  // the bound view and one that the program accepts.
  virtual bool accepts(Direction direction, size_t index, View view) const noexcept = 0;
  virtual Result<std::unique_ptr<Context>> create_context() const = 0;
  virtual ProgramInfo info() const = 0;
  // Returns whether it was loaded for a rank. Then jobs must run one at a time, in the same order
  // on every rank.
  virtual bool is_of_rank() const noexcept { return false; }
  // For a program of a rank: reports that an accepted job will not run here. The collectives of the
  // next job would be matched with those of this job on other ranks, so the next job fails instead,
  // on every rank. Does not block.
  virtual void skip_job() const noexcept {}
};

// The options apply only if the process has no device of that name yet.
struct DeviceOptions {
  uint32_t lanes = 0;  // number of lanes; 0: MILLRACE_LANES, or the core budget of the process
  // Whether BF16 models are computed in BF16 on every processor that can, even where FP32 is
  // faster. This is for measuring the accuracy of a model. MILLRACE_NO_BF16=1 takes precedence.
  bool stated_precision = false;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;  // "cpu", "null"
  // Returns a human-readable text that names the backend and its version.
  virtual std::string description() const { return name(); }
  // States what the device can run. The runtime lowers dynamic models for it accordingly.
  virtual graph::Capabilities capabilities() const noexcept = 0;
  // Prepares the model: chooses kernels and packs weights. Blocks. kUnsupported names every node
  // for which the device has no kernel.
  virtual Result<std::shared_ptr<const Program>> load(
      std::shared_ptr<const graph::CompiledModel> model) = 0;
  // Loads a model of which each rank runs a part. The collectives of the model run on
  // `communicator`. The jobs of the program must run one at a time, in the same order on every
  // rank. load() accepts a model with collectives only if they need a single rank. The default is
  // load(), for devices that do not compute, and so skip collectives, too.
  virtual Result<std::shared_ptr<const Program>> load_for_rank(
      std::shared_ptr<const graph::CompiledModel> model,
      std::shared_ptr<ranks::Communicator> communicator);
  virtual queue::Lanes& lanes() noexcept = 0;
  // Copies between memory of the host and of the device, or within either, on the calling thread.
  // The ranges may overlap. Before each piece it reports a step to `control`; if a stop is
  // requested, it returns stop_status(), and the remaining bytes are unchanged.
  virtual Status transfer(void* to, const void* from, size_t bytes,
                          queue::RunControl& control) noexcept;
  // Returns the order that numbers requests of that kind, for all units that take such requests
  // (queue::UnitOptions); null for a device that does not number them.
  virtual std::shared_ptr<queue::AcceptanceOrder> acceptance_order(Work) noexcept {
    return nullptr;
  }
};

}  // namespace millrace::device
