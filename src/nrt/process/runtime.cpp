// nrt_init and nrt_close, which a mutex serialises, and loading. To close, the pointer to the
// runtime is cleared first, so that new calls are refused; then everything that a call may wait for
// is ended, and the calls in progress are awaited, before objects are destroyed.
#include "nrt/process/runtime.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <memory>

#include "base/log.h"
#include "base/process/forked_child.h"
#include "device/faulty/faulty_device.h"
#include "device/registry.h"
#include "nrt/counters/process_counters.h"
#include "nrt/objects/error_tracker.h"
#include "nrt/objects/tensor_set.h"
#include "nrt/process/call_gate.h"
#include "nrt/process/inspect_settings.h"
#include "nrt/process/log_setup.h"
#include "nrt/requests/collective.h"
#include "runtime/loading/loader.h"

namespace millrace::nrt {
namespace {

// The state of the runtime in this process. Never destroyed, since a program may exit without
// calling nrt_close.
struct Life {
  std::mutex mutex;
  std::unique_ptr<Runtime> running;
  std::atomic<bool> was_started{false};
};

Life& life() {
  static auto* const life = new Life;
  return *life;
}

// Ends all waits for completion counts, which no further execution will increase.
void close_completion_counts() noexcept {
  TensorHandles::of_process().for_each([](Tensor& tensor) { tensor.completions().close(); });
}

// Frees all handles of the process. Requirement: all calls have returned and no request runs.
void end_all_handles() noexcept {
  TensorHandles::of_process().drop_all();
  ModelHandles::of_process().drop_all();
  TensorSetHandles::of_process().drop_all();
  TrackerHandles::of_process().drop_all();
  CollectiveHandles::of_process().drop_all();
  Collective::drop_retired();
  sendrecv::RequestHandles::of_process().drop_all();
  sendrecv::CommunicatorHandles::of_process().drop_all();
}

// A dump of the inputs of a failed execution has the bytes with which it began.
UpdatedInputs updated_inputs(const ExecutionChecks& checks) noexcept {
  return checks.dump_inputs_on ? UpdatedInputs::kKept : UpdatedInputs::kInPlace;
}

// Claims the cores if they are exclusive. The settings then have the cores that were free.
Result<CoreClaim> claim_cores(Settings& settings) {
  if (settings.exclusive_cores.empty()) return CoreClaim();
  MILLRACE_ASSIGN_OR_RETURN(
      CoreClaim claim, CoreClaim::make(settings.exclusive_cores,
                                       {settings.cores, settings.all_cores, settings.any_cores}));
  settings.cores = claim.cores();
  MILLRACE_ASSIGN_OR_RETURN(settings.profile, inspect_settings(settings.cores));
  return claim;
}

}  // namespace

std::atomic<Runtime*> Runtime::current_{nullptr};

Status Runtime::start() {
  Life& now = life();
  // Checked before the mutex is locked, which another thread may have held at the time of the fork.
  if (is_forked_child()) return forked_status();
  const std::lock_guard lock(now.mutex);
  if (now.running != nullptr) return {};
  MILLRACE_RETURN_IF_ERROR(watch_for_forks());
  set_up_log();
  MILLRACE_ASSIGN_OR_RETURN(Settings settings, settings_of_environment());
  MILLRACE_ASSIGN_OR_RETURN(CoreClaim claim, claim_cores(settings));
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<device::Device> device,
                            device::open_device_of_program());
  // A hung request may have kept the device of an earlier nrt_init alive, with its old faults.
  MILLRACE_RETURN_IF_ERROR(device::apply_faults_of_environment(*device));
  MILLRACE_RETURN_IF_ERROR(device->lanes().fill_up());
  log_start(settings, *device);
  ProcessCounters::of_process().start(settings.all_cores, settings.cores.first,
                                      settings.cores.count);
  now.running.reset(new Runtime(settings, std::move(claim), std::move(device)));
  current_.store(now.running.get(), std::memory_order_release);
  if (!now.was_started.exchange(true)) {
    pthread_atfork(nullptr, nullptr, [] { current_.store(nullptr, std::memory_order_release); });
  }
  return {};
}

void Runtime::stop() {
  Life& now = life();
  if (is_forked_child()) return;
  const std::lock_guard lock(now.mutex);
  if (now.running == nullptr) return;
  current_.store(nullptr, std::memory_order_release);
  now.running->close();
  now.running.reset();
  ProcessCounters::of_process().stop();
}

Absence Runtime::absence() noexcept {
  const Life& now = life();
  if (is_forked_child()) return Absence::kForked;
  return now.was_started ? Absence::kClosed : Absence::kNotStarted;
}

Runtime::Runtime(const Settings& settings, CoreClaim claim, std::shared_ptr<device::Device> device)
    : settings_(settings),
      claim_(std::move(claim)),
      inspection_(settings.profile),
      device_(std::move(device)),
      host_(std::make_shared<memory::Bank>("host", memory::kUnlimited)),
      units_(settings, device_),
      bindings_(updated_inputs(settings.checks)),
      programs_(*device_),
      send_receive_({settings.all_cores, settings.send_receive_port, settings.connect_timeout,
                     settings.exec_timeout}),
      ranks_(settings.ranks) {
  for (uint32_t core = 0; core < settings.cores.count; ++core)
    core_memory_.push_back(
        std::make_shared<memory::Bank>(fmt::format("core {}", core), settings.core_memory));
}

void Runtime::close() noexcept {
  close_completion_counts();
  ranks_.stop_waiting();
  units_.close();
  await_calls();
  send_receive_.stop();
  ranks_.leave();
  end_all_handles();
}

Status Runtime::check_core(int64_t core) const {
  if (core >= 0 && core < settings_.cores.count) return {};
  return invalid_argument(
      fmt::format("there is no core {}: {} are visible", core, settings_.cores.count));
}

uint32_t Runtime::least_used_core() const {
  std::vector<uint32_t> models(settings_.cores.count);
  ModelHandles::of_process().for_each([&](const Model& model) { ++models[model.core()]; });
  return static_cast<uint32_t>(std::ranges::min_element(models) - models.begin());
}

Result<std::shared_ptr<Model>> Runtime::load(std::span<const std::byte> bytes, int32_t core,
                                             std::shared_ptr<ranks::Communicator> communicator) {
  MILLRACE_RETURN_IF_ERROR(device_->lanes().fill_up());
  MILLRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const device::Program> program,
                            communicator == nullptr
                                ? programs_.load(bytes)
                                : runtime::load_program(bytes, *device_, communicator));
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<runtime::Executor> executor,
                            runtime::Executor::of(device_, program));
  const uint32_t chosen = core == kNoCore ? least_used_core() : static_cast<uint32_t>(core);
  MILLRACE_ASSIGN_OR_RETURN(ModelMemory memory, memory_of(*program, chosen));
  if (program->is_of_rank()) MILLRACE_RETURN_IF_ERROR(units_.expect_waits(chosen));
  ProcessCounters::of_process().of_core(chosen).add(NDS_NC_COUNTER_MODEL_LOAD_COUNT);
  return std::make_shared<Model>(chosen, std::move(executor), std::move(memory),
                                 std::move(communicator));
}

// The key is an address. A charge does not outlive its program, and expired entries are removed
// first, so a new program at the address of an old one finds no entry of it.
Result<ModelMemory> Runtime::memory_of(const device::Program& program, uint32_t core) {
  const std::lock_guard lock(model_memory_mutex_);
  std::erase_if(model_memory_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<const ModelCharge>& known = model_memory_[{&program, core}];
  if (ModelMemory memory = known.lock()) return memory;
  const size_t bytes = program.info().weight_bytes;
  const int on_core = static_cast<int>(core);
  MILLRACE_ASSIGN_OR_RETURN(memory::BankCharge charge, bank(on_core).charge(bytes));
  auto memory = std::make_shared<const ModelCharge>(ModelCharge{
      std::move(charge), CountedBytes(on_core, NDS_NC_COUNTER_MEM_USAGE_CONSTANTS_DEVICE, bytes)});
  known = memory;
  return memory;
}

}  // namespace millrace::nrt
