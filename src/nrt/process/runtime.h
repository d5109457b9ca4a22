// Runtime: what exists between nrt_init and nrt_close.
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
#include "nrt/process/debug_streams.h"
#include "nrt/process/rank_world.h"
#include "nrt/process/settings.h"
#include "nrt/process/units.h"
#include "nrt/recording/environment_inspection.h"
#include "nrt/requests/binding_cache.h"
#include "nrt/sendrecv/service.h"
#include "runtime/loading/program_cache.h"

namespace millrace::nrt {

// Why there is no runtime: before nrt_init, after nrt_close, or in a forked child of a process that
// had one.
enum class Absence { kNotStarted, kClosed, kForked };

class Runtime {
 public:
  // Starts the runtime, unless it runs already. The environment is read here. Fails in a forked
  // child of a process in which it had been started: the threads of the library do not exist in the
  // child.
  static Status start();
  // Ends the runtime, if it runs: waits for running requests up to the execution timeout, ends the
  // other requests with NRT_CLOSED, and ends all handles. Returns after all calls that were inside
  // have returned. Must not be called inside a call.
  static void stop();

  // Null while the runtime does not run.
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
  // The memory of a visible core, or of the host for kNoCore. Waits until completed requests have
  // released theirs.
  memory::Bank& bank(int core) noexcept {
    units_.await_releases();
    return core == kNoCore ? *host_ : *core_memory_[static_cast<size_t>(core)];
  }

  // Loads the archive for a visible core, or for -1 for the core with the fewest models. Bytes that
  // are loaded already are not loaded again, and use memory of a core once. They are not needed
  // afterwards. With a communicator the model is that of one of its ranks, and loaded for itself.
  Result<std::shared_ptr<Model>> load(std::span<const std::byte> bytes, int32_t core,
                                      std::shared_ptr<ranks::Communicator> communicator = nullptr);

 private:
  Runtime(const Settings& settings, std::shared_ptr<device::Device> device);
  uint32_t least_used_core() const;
  Result<ModelMemory> memory_of(const device::Program& program, uint32_t core);
  void close() noexcept;

  static std::atomic<Runtime*> current_;

  const Settings settings_;
  const trace::EnvironmentInspection inspection_;  // first, so that it ends after all other members
  const std::shared_ptr<device::Device> device_;
  const std::shared_ptr<memory::Bank> host_;
  std::vector<std::shared_ptr<memory::Bank>> core_memory_;
  Units units_;
  BindingCache bindings_;
  runtime::ProgramCache programs_;
  std::mutex model_memory_mutex_;
  std::map<std::pair<const device::Program*, uint32_t>, std::weak_ptr<const memory::BankCharge>>
      model_memory_;  // by core
  DebugStreams debug_streams_;
  sendrecv::Service send_receive_;
  RankWorld ranks_;
};

}  // namespace millrace::nrt
