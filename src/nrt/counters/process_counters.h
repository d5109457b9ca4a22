// The counters of the cores that this process uses: executions, failures, busy time and memory.
// They lie in a memory file without a name (memfd), which other processes of the same user find
// below /proc and read (counter_files.h). The system removes it with the process.
//
// The numbers of the counters are those of the vendor's datastore (ndl/neuron_driver_shared.h).
// Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "memory/mapping.h"
#include "ndl/neuron_driver_shared.h"
#include "nrt/nrt_status.h"
#include "nrt/terms/unit_address.h"

namespace millrace::nrt {

inline constexpr size_t kCounters = NDS_TOTAL_NC_COUNTER_COUNT;

// The counters of one core. Readers may see some of them updated before others.
class CoreCounters {
 public:
  // Adds to a counter; `amount` may be negative, for what is less now.
  void add(size_t counter, int64_t amount = 1) noexcept {
    values_[counter].fetch_add(static_cast<uint64_t>(amount), std::memory_order_relaxed);
  }
  // Counts an execution that has ended with this status.
  void count_execution(NRT_STATUS status) noexcept;
  // Returns a counter in the unit that programs expect. Requirement: counter < kCounters.
  uint64_t value(size_t counter) const noexcept;

  // The time is kept in nanoseconds, since most executions take less than the microsecond in which
  // programs expect it.
  void add_busy_ns(int64_t ns) noexcept { add(NDS_NC_COUNTER_TIME_IN_USE, ns); }

 private:
  std::array<std::atomic<uint64_t>, kCounters> values_{};
};

// The contents of the file. Other processes read it, so it is changed together with the signature.
struct CounterFile {
  static constexpr std::string_view kName = "millrace-nrt-counters";
  static constexpr std::array<char, 8> kSignature = {'m', 'r', 'n', 'r', 't', '0', '0', '2'};

  std::array<char, 8> signature = kSignature;
  // The process that counts. A forked child has the file of its parent and is not that process.
  std::atomic<int32_t> pid{0};
  // The logical cores of the machine, and those that the process sees: core `first` is its core 0.
  // Without a running runtime it sees none.
  std::atomic<uint32_t> all_cores{0}, first{0}, count{0};
  std::array<CoreCounters, kMostCores> cores;  // as the machine numbers them
};

class ProcessCounters {
 public:
  static ProcessCounters& of_process();

  // Makes the file at the first call, and enters the cores that the process sees. Without a
  // descriptor or memory for the file, only this process knows the counters.
  void start(uint32_t all_cores, uint32_t first, uint32_t count) noexcept;
  void stop() noexcept;

  // Returns the counters of a core as the process numbers it. They stay those of the same core of
  // the machine if a later start shows the process other cores.
  CoreCounters& of_core(uint32_t core) noexcept {
    CounterFile& contents = *file();
    return contents.cores[contents.first.load(std::memory_order_relaxed) + core];
  }
  const CounterFile& contents() const noexcept { return *file(); }

 private:
  CounterFile* file() const noexcept { return file_.load(std::memory_order_acquire); }

  CounterFile own_;  // used where there is no file
  std::mutex mutex_;
  std::shared_ptr<memory::Mapping> mapping_;
  std::atomic<CounterFile*> file_{&own_};
};

// Counts bytes of a core's memory for as long as it exists.
class CountedBytes {
 public:
  CountedBytes() noexcept = default;
  // `core` is negative for memory of no core, which is not counted.
  CountedBytes(int core, size_t counter, size_t bytes) noexcept;
  CountedBytes(CountedBytes&& other) noexcept;
  CountedBytes& operator=(CountedBytes&&) = delete;
  ~CountedBytes();

 private:
  CoreCounters* counters_ = nullptr;
  size_t counter_ = 0;
  size_t bytes_ = 0;
};

}  // namespace millrace::nrt
