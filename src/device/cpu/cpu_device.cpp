#include "device/cpu/cpu_device.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <utility>

#include "base/float_environment.h"
#include "base/process/topology.h"
#include "base/settings/environment.h"
#include "device/cpu/dnnl/calls.h"
#include "device/cpu/dnnl/openmp/openmp.h"
#include "device/cpu/program/cpu_program.h"
#include "device/cpu/reserve/kept_objects.h"

namespace millrace::device::cpu {
namespace {

uint32_t lane_count(const DeviceOptions& options) {
  return options.lanes > 0 ? options.lanes : static_cast<uint32_t>(topology().core_budget);
}

bool is_refused(const char* variable, bool otherwise) {
  const Result<bool> refused = switch_variable(variable, otherwise);
  return !refused.ok() || *refused;
}

// How many lanes may take part in one job.
Result<uint32_t> lanes_per_job(uint32_t lanes) {
  constexpr uint64_t kMost = 1'000'000;
  MILLRACE_ASSIGN_OR_RETURN(const uint64_t wanted,
                            number_variable("MILLRACE_LANES_PER_JOB", kMost, 1, kMost));
  return static_cast<uint32_t>(std::min<uint64_t>(wanted, lanes));
}

// Without the instructions oneDNN emulates BF16, which is slower than FP32, or cannot make the
// primitives at all, and sums of products of bytes saturate in 16 bits, which gives other results.
// If the processor has the instructions, but slow ones, DeviceOptions::stated_precision or
// MILLRACE_NO_BF16=0 enables them. Otherwise the variables let tests see what a processor without
// the instructions does.
Abilities abilities(uint32_t lanes, bool stated_precision) {
  const CpuFeatures& features = topology().features;
  const bool slow_bf16 = !features.fast_bf16 && !stated_precision;
  return {.bf16 = features.avx512_bf16 && !is_refused("MILLRACE_NO_BF16", slow_bf16),
          .int8 = features.avx512 && features.avx512_vnni && !is_refused("MILLRACE_NO_VNNI", false),
          .lanes = lanes};
}

constinit std::atomic<bool> is_destroyed{false};

// Handlers of exit() run in the reverse order of their registration, so this one runs before the
// objects that oneDNN has at this time are destroyed. If there is no memory to register it, nothing
// is refused.
void note_destruction() {
  static_cast<void>(std::atexit([] { is_destroyed.store(true, std::memory_order_relaxed); }));
}

// The first primitive that runs in a process reads settings of oneDNN, in strings whose allocation
// must not fail while a job runs. May throw what guarded() catches.
void run_first_primitive(const dnnl::engine& engine) {
  const OpenMpThreads one_thread;
  float from = 0, to = 0;
  const Desc desc = plain_desc({1}, ElementType::f32);
  dnnl::memory source(desc, engine, &from), target(desc, engine, &to);
  dnnl::stream stream(engine);
  dnnl::reorder(source, target).execute(stream, source, target);
}

}  // namespace

CpuDevice::CpuDevice(const DeviceOptions& options)
    : engine_(dnnl::engine::kind::cpu, 0),
      stated_precision_(options.stated_precision),
      lanes_({.count = lane_count(options)}) {
  // Names generated code for profilers, in strings whose allocation must not fail.
  dnnl_set_jit_profiling_flags(DNNL_JIT_PROFILE_NONE);
  run_first_primitive(engine_);
  if (!reserve::keeps_objects()) note_destruction();
}

Status CpuDevice::check_usable() {
  if (!is_destroyed.load(std::memory_order_relaxed)) return {};
  return {StatusCode::kClosed,
          "the process is ending, and oneDNN has been destroyed: load models before exit()"};
}

Result<std::shared_ptr<const Program>> CpuDevice::load(
    std::shared_ptr<const graph::CompiledModel> model) {
  return load_for_rank(std::move(model), nullptr);
}

Result<std::shared_ptr<const Program>> CpuDevice::load_for_rank(
    std::shared_ptr<const graph::CompiledModel> model,
    std::shared_ptr<ranks::Communicator> communicator) {
  MILLRACE_RETURN_IF_ERROR(check_usable());
  const DefaultFloatEnvironment floats;
  MILLRACE_ASSIGN_OR_RETURN(const uint32_t lanes, lanes_per_job(lanes_.count()));
  return CpuProgram::load(std::move(model), engine_, abilities(lanes, stated_precision_), lanes_,
                          packed_, std::move(communicator));
}

}  // namespace millrace::device::cpu
