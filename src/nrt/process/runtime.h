// Runtime: the state of the API between nrt_init and nrt_close, at most one per process. It owns
// the execution units, the memory banks of the cores, the caches of programs and bindings, and the
// connections to other ranks and cores. All functions but stop() are thread-safe within a call
// (call_gate.h), for which nrt_close waits.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "memory/bank.h"
#include "nrt/objects/model.h"
#include "nrt/objects/tensor.h"
#include "nrt/process/core_claim.h"
#include "nrt/process/debug_streams.h"
#include "nrt/process/rank_world.h"
#include "nrt/process/settings.h"
#include "nrt/process/units.h"
#include "nrt/recording/environment_inspection.h"
#include "nrt/requests/binding_cache.h"
#include "nrt/sendrecv/service.h"
#include "runtime/loading/program_cache.h"

namespace millrace::nrt {

// Why there is no runtime: nrt_init has not been called, nrt_close has been called, or the process
// is a forked child of one that had started threads.
enum class Absence { kNotStarted, kClosed, kForked };

class Runtime {
 public:
  // Starts the runtime, unless it runs already. Reads the settings from the environment. Fails with
  // kForked in a forked child of a process that had started it, since the child does not have its
  // threads.
  static Status start();
  // Ends the runtime, if it runs: waits for running requests up to the execution timeout, completes
  // the other requests with NRT_CLOSED, and frees all handles. Returns after all calls in progress
  // have returned. Must not be called inside a call.
  static void stop();

  // Returns null while the runtime does not run.
  static Runtime* current() noexcept { return current_.load(std::memory_order_acquire); }
  // Requirement: current() was null.
  static Absence absence() noexcept;

  const Settings& settings() const noexcept { return settings_; }
  Units& units() noexcept { return units_; }
  BindingCache& bindings() noexcept { return bindings_; }
  DebugStreams& debug_streams() noexcept { return debug_streams_; }
  sendrecv::Service& send_receive() noexcept { return send_receive_; }
  RankWorld& ranks() noexcept { return ranks_; }

  Status check_core(int64_t core) const;
  // Returns the memory bank of a visible core, or of the host for kNoCore. First waits until
  // completed requests have released their memory, so that its statistics are exact.
  memory::Bank& bank(int core) noexcept {
    units_.await_releases();
    return core == kNoCore ? *host_ : *core_memory_[static_cast<size_t>(core)];
  }

  // Loads an archive for a visible core or, for kNoCore, for the core with the fewest models. An
  // archive with the same bytes as one that is loaded shares its program, whose weights are charged
  // to the memory of each core once. With a communicator the model belongs to its rank, and the
  // program is not shared. `bytes` is not needed after the call.
  Result<std::shared_ptr<Model>> load(std::span<const std::byte> bytes, int32_t core,
                                      std::shared_ptr<ranks::Communicator> communicator = nullptr);

 private:
  Runtime(const Settings& settings, CoreClaim claim, std::shared_ptr<device::Device> device);
  uint32_t least_used_core() const;
  Result<ModelMemory> memory_of(const device::Program& program, uint32_t core);
  void close() noexcept;

  static std::atomic<Runtime*> current_;

  const Settings settings_;
  const CoreClaim claim_;                          // ends after the members below
  const trace::EnvironmentInspection inspection_;  // destroyed after all members below
  const std::shared_ptr<device::Device> device_;
  const std::shared_ptr<memory::Bank> host_;
  std::vector<std::shared_ptr<memory::Bank>> core_memory_;
  Units units_;
  BindingCache bindings_;
  runtime::ProgramCache programs_;
  std::mutex model_memory_mutex_;
  std::map<std::pair<const device::Program*, uint32_t>, std::weak_ptr<const ModelCharge>>
      model_memory_;  // charges for weights, by program and core
  DebugStreams debug_streams_;
  sendrecv::Service send_receive_;
  RankWorld ranks_;
};

}  // namespace millrace::nrt
