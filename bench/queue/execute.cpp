// Measures the overhead of a synchronous execute: there is nothing, or almost nothing, to compute.
//
//   unit                 queue::Unit::execute with an empty task; the lane sleeps at the beginning
//   unit/after_submit    like unit, but the lane is awake at the beginning, searching for work
//   session/null         runtime::Session::execute on the null device
//   native/null          the same job through the native API, Unit::execute
//   relu16/...           y = Relu(x) of 16 elements: Millrace on the CPU device, and ONNX Runtime
//                        called from C and from Node.js (onnx_runtime.h)
#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>
#include <thread>

#include "bench/queue/benchmarks.h"
#include "bench/queue/bound_job.h"
#include "bench/queue/millrace_queue.h"
#include "bench/queue/native_job.h"
#include "bench/queue/one_node_model.h"
#include "bench/queue/onnx_runtime.h"
#include "bench/queue/placement.h"
#include "device/registry.h"
#include "runtime/session.h"

namespace millrace::bench {
namespace {

void skip(benchmark::State& state, const Status& status) {
  state.SkipWithError(status.message().c_str());
}

// Waits long enough for an idle lane to fall asleep.
void let_lanes_sleep() {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

void execute_unit(benchmark::State& state) {
  Placement placement;
  const auto queue = placement.make<MillraceQueue>(1);
  let_lanes_sleep();
  for (auto _ : state) benchmark::DoNotOptimize(queue->unit().execute(MillraceQueue::fill_nothing));
}

void execute_unit_after_submit(benchmark::State& state) {
  Placement placement;
  const auto queue = placement.make<MillraceQueue>(1);
  queue->wait(queue->submit());
  for (auto _ : state) benchmark::DoNotOptimize(queue->unit().execute(MillraceQueue::fill_nothing));
}

// The one-node model, loaded on a device.
struct LoadedSession {
  // The order of members matters: the session is destroyed before the device whose lanes it uses.
  std::shared_ptr<device::Device> device;
  std::unique_ptr<BoundJob> job;
  std::unique_ptr<runtime::Session> session;
};

Result<LoadedSession> load_session(const char* device_name) {
  LoadedSession loaded;
  const auto model = std::make_shared<const graph::CompiledModel>(one_node_model());
  MILLRACE_ASSIGN_OR_RETURN(loaded.device, device::open_device(device_name, {.lanes = 1}));
  MILLRACE_ASSIGN_OR_RETURN(const auto program, loaded.device->load(model));
  MILLRACE_ASSIGN_OR_RETURN(loaded.session, runtime::Session::create(loaded.device, program));
  loaded.job = std::make_unique<BoundJob>(*model);
  return loaded;
}

void execute_session(benchmark::State& state, const char* device_name) {
  Placement placement;
  const auto loaded = placement.elsewhere([&] { return load_session(device_name); });
  if (!loaded.ok()) return skip(state, loaded.status());
  const runtime::JobBindings bindings = loaded->job->bindings();
  let_lanes_sleep();
  for (auto _ : state) {
    const Status status = loaded->session->execute(bindings);
    if (!status.ok()) return skip(state, status);
  }
}

void execute_native(benchmark::State& state) {
  Placement placement;
  auto device = placement.elsewhere([] { return Device::open("null", {.lanes = 1}); });
  if (!device.ok()) return skip(state, device.status());
  const Result<Model> model = load_native(*device, one_node_model());
  if (!model.ok()) return skip(state, model.status());
  Result<Unit> unit = device->create_unit();
  if (!unit.ok()) return skip(state, unit.status());
  const NativeJob job(*model);
  let_lanes_sleep();
  for (auto _ : state) {
    const Status status = unit->execute(*model, job.args());
    if (!status.ok()) return skip(state, status);
  }
}

void execute_onnx_runtime(benchmark::State& state) {
  Placement placement;
  const auto peer = OnnxRuntime::open();
  if (!peer.ok()) return skip(state, peer.status());
  for (auto _ : state) benchmark::DoNotOptimize((*peer)->run());
}

// Each iteration starts a process that times 20,000 runs and prints the median.
void execute_onnx_runtime_node(benchmark::State& state) {
  for (auto _ : state) {
    const Result<double> seconds = onnx_runtime_node_seconds();
    if (!seconds.ok()) return skip(state, seconds.status());
    state.SetIterationTime(*seconds);
  }
}

}  // namespace

void register_executes() {
  using benchmark::RegisterBenchmark;
  RegisterBenchmark("execute/unit", execute_unit)->UseRealTime();
  RegisterBenchmark("execute/unit/after_submit", execute_unit_after_submit)->UseRealTime();
  RegisterBenchmark("execute/session/null", execute_session, "null")->UseRealTime();
  RegisterBenchmark("execute/native/null", execute_native)->UseRealTime();
  RegisterBenchmark("execute/relu16/millrace", execute_session, "cpu")->UseRealTime();
  RegisterBenchmark("execute/relu16/onnxruntime", execute_onnx_runtime)->UseRealTime();
  RegisterBenchmark("execute/relu16/onnxruntime_node", execute_onnx_runtime_node)
      ->UseManualTime()
      ->Iterations(1);
}

}  // namespace millrace::bench
