#include "nrt/counters/process_counters.h"

#include <unistd.h>

#include <new>
#include <string>
#include <utility>

#include "base/never_destroyed.h"
#include "base/process/forked_child.h"

namespace millrace::nrt {
namespace {

size_t counter_of(NRT_STATUS status) noexcept {
  switch (status) {
    case NRT_SUCCESS:
      return NDS_NC_COUNTER_INFER_COMPLETED;
    case NRT_EXEC_COMPLETED_WITH_ERR:
      return NDS_NC_COUNTER_INFER_COMPLETED_WITH_ERR;
    case NRT_EXEC_COMPLETED_WITH_NUM_ERR:
      return NDS_NC_COUNTER_INFER_COMPLETED_WITH_NUM_ERR;
    case NRT_TIMEOUT:
      return NDS_NC_COUNTER_INFER_TIMED_OUT;
    case NRT_EXEC_BAD_INPUT:
      return NDS_NC_COUNTER_INFER_INCORRECT_INPUT;
    case NRT_RESOURCE:
      return NDS_NC_COUNTER_ERR_RESOURCE;
    case NRT_INVALID:
      return NDS_NC_COUNTER_ERR_INVALID;
    case NRT_HW_ERROR:
      return NDS_NC_COUNTER_ERR_HW;
    case NRT_EXEC_OOB:
      return NDS_NC_COUNTER_OOB;
    case NRT_EXEC_HW_ERR_COLLECTIVES:
      return NDS_EXT_NC_COUNTER_HW_ERR_COLLECTIVES;
    case NRT_EXEC_HW_ERR_HBM_UE:
      return NDS_EXT_NC_COUNTER_HW_ERR_HBM_UE;
    case NRT_EXEC_HW_ERR_NC_UE:
      return NDS_EXT_NC_COUNTER_HW_ERR_NC_UE;
    case NRT_EXEC_HW_ERR_DMA_ABORT:
      return NDS_EXT_NC_COUNTER_HW_ERR_DMA_ABORT;
    case NRT_EXEC_SW_NQ_OVERFLOW:
      return NDS_EXT_NC_COUNTER_ERR_SW_NQ_OVERFLOW;
    case NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE:
      return NDS_EXT_NC_COUNTER_HW_ERR_REPAIRABLE_HBM_UE;
    default:
      return NDS_NC_COUNTER_GENERIC_FAIL;
  }
}

std::shared_ptr<memory::Mapping> make_mapping() noexcept {
  try {
    Result<std::shared_ptr<memory::Mapping>> made = memory::Mapping::create(
        memory::MemorySource::kMemfd, sizeof(CounterFile), std::string(CounterFile::kName));
    return made.ok() ? *std::move(made) : nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

void CoreCounters::count_execution(NRT_STATUS status) noexcept {
  add(counter_of(status));
  add(NDS_NC_COUNTER_INFERENCE_COUNT);
}

uint64_t CoreCounters::value(size_t counter) const noexcept {
  constexpr uint64_t kNsPerMicrosecond = 1000;
  const uint64_t value = values_[counter].load(std::memory_order_relaxed);
  return counter == NDS_NC_COUNTER_TIME_IN_USE ? value / kNsPerMicrosecond : value;
}

ProcessCounters& ProcessCounters::of_process() {
  static NeverDestroyed<ProcessCounters> counters;
  return counters.get();
}

void ProcessCounters::start(uint32_t all_cores, uint32_t first, uint32_t count) noexcept {
  const std::lock_guard lock(mutex_);
  if (mapping_ == nullptr && (mapping_ = make_mapping()) != nullptr)
    file_.store(new (mapping_->data()) CounterFile, std::memory_order_release);
  CounterFile& contents = *file();
  contents.pid.store(::getpid(), std::memory_order_relaxed);
  contents.all_cores.store(all_cores, std::memory_order_relaxed);
  contents.first.store(first, std::memory_order_relaxed);
  contents.count.store(count, std::memory_order_release);
}

void ProcessCounters::stop() noexcept {
  file()->count.store(0, std::memory_order_release);
}

CountedBytes::CountedBytes(int core, size_t counter, size_t bytes) noexcept
    : counter_(counter), bytes_(bytes) {
  if (core < 0) return;
  counters_ = &ProcessCounters::of_process().of_core(static_cast<uint32_t>(core));
  counters_->add(counter_, static_cast<int64_t>(bytes_));
}

CountedBytes::CountedBytes(CountedBytes&& other) noexcept
    : counters_(std::exchange(other.counters_, nullptr)),
      counter_(other.counter_),
      bytes_(other.bytes_) {}

// A forked child has the file of its parent, which keeps its memory.
CountedBytes::~CountedBytes() {
  if (counters_ != nullptr && !is_forked_child())
    counters_->add(counter_, -static_cast<int64_t>(bytes_));
}

}  // namespace millrace::nrt
