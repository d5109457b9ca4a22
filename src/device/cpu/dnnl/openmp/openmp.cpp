#include "device/cpu/dnnl/openmp/openmp.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>

#include "device/cpu/dnnl/invalid_flag.h"
#include "device/cpu/dnnl/openmp/calls.h"
#include "device/cpu/reserve/imports.h"
#include "device/cpu/reserve/library.h"

// Functions of libgomp, the OpenMP runtime that libdnnl is built with. They are declared here since
// the omp.h that a compiler finds may belong to another runtime.
extern "C" {
void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags);
void GOMP_barrier(void);
int omp_get_max_threads(void);
int omp_get_num_threads(void);
int omp_get_thread_num(void);
int omp_in_parallel(void);
void omp_set_num_threads(int threads);
}

namespace millrace::device::cpu {
namespace {

// A parallel region: the function that its threads run, and the state that they share.
struct Region {
  void (*function)(void*);
  void* data;
  uint32_t threads;      // of the region
  uint32_t max_threads;  // of the thread that began it
  std::atomic<bool> refused_barrier{false};
  std::atomic<bool> raised_invalid{false};  // whether a thread of the region has raised the flag
};

// The OpenMP state of the calling thread.
struct ThreadState {
  uint32_t max_threads = 0;  // 0: what the OpenMP runtime says, to which all calls go
  queue::LaneId leader = 0;
  queue::Team* team = nullptr;
  Region* region = nullptr;  // that the thread is in
  uint32_t number = 0;       // of the thread in it
  bool refused_barrier = false;
};

// Part of every thread, because the dynamic loader ends the process when it cannot allocate such
// memory for a thread.
constinit thread_local ThreadState state __attribute__((tls_model("initial-exec"))) = {};

// The calling thread is in a region; also while an exception leaves it, which a program that is
// being loaded survives.
class InRegion {
 public:
  InRegion(Region& region, uint32_t number) noexcept : before_(state) {
    state = {.max_threads = region.max_threads, .region = &region, .number = number};
  }
  ~InRegion() { state = before_; }
  InRegion(const InRegion&) = delete;
  InRegion& operator=(const InRegion&) = delete;

 private:
  const ThreadState before_;
};

void run_chunk(void* work, uint32_t number) {
  auto& region = *static_cast<Region*>(work);
  const InRegion inside(region, number);
  clear_invalid_flag();
  region.function(region.data);
  if (invalid_flag()) [[unlikely]]
    region.raised_invalid.store(true, std::memory_order_relaxed);
}

}  // namespace

namespace openmp {

void parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags) {
  const ThreadState& self = state;
  if (self.max_threads == 0) return GOMP_parallel(function, data, threads, flags);
  // Regions do not nest: an inner one has one thread, as by default in OpenMP.
  const uint32_t count = self.region != nullptr ? 1 : threads != 0 ? threads : self.max_threads;
  Region region{function, data, count, self.max_threads};
  const bool was_invalid = invalid_flag();
  if (self.team != nullptr && self.max_threads > 1 && count > 1 && count <= queue::Team::kMaxChunks)
    self.team->run(self.leader, count, run_chunk, &region);
  else
    for (uint32_t number = 0; number < count; ++number) run_chunk(&region, number);
  // The team's end of the region is acquired, and so is what its threads have stored.
  if (region.refused_barrier.load(std::memory_order_relaxed)) state.refused_barrier = true;
  if (was_invalid || region.raised_invalid.load(std::memory_order_relaxed)) [[unlikely]]
    raise_invalid_flag();
}

void barrier() {
  if (state.max_threads == 0) return GOMP_barrier();
  if (state.region == nullptr || state.region->threads == 1) return;
  state.region->refused_barrier.store(true, std::memory_order_relaxed);
}

int thread_number() {
  if (state.max_threads == 0) return omp_get_thread_num();
  return static_cast<int>(state.number);
}

}  // namespace openmp

namespace {

int max_threads() {
  return state.max_threads == 0 ? omp_get_max_threads() : static_cast<int>(state.max_threads);
}

int num_threads() {
  if (state.max_threads == 0) return omp_get_num_threads();
  return state.region == nullptr ? 1 : static_cast<int>(state.region->threads);
}

int in_parallel() {
  if (state.max_threads == 0) return omp_in_parallel();
  return state.region != nullptr && state.region->threads > 1 ? 1 : 0;
}

template <class Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

// All or, as far as anybody notices, none: each of them alone does what the runtime does.
bool replace_openmp_calls() noexcept {
  const auto dnnl = reserve::find_library(kLibraryName);
  if (!dnnl) return false;
  const std::array replacements{
      reserve::Replacement{"GOMP_parallel", address_of(openmp::parallel)},
      reserve::Replacement{"GOMP_barrier", address_of(openmp::barrier)},
      reserve::Replacement{"omp_get_max_threads", address_of(max_threads)},
      reserve::Replacement{"omp_get_num_threads", address_of(num_threads)},
      reserve::Replacement{"omp_get_thread_num", address_of(openmp::thread_number)},
      reserve::Replacement{"omp_in_parallel", address_of(in_parallel)},
  };
  return std::ranges::all_of(replacements, [&](const reserve::Replacement& replacement) {
    return reserve::replace_imports(*dnnl, {&replacement, 1}) > 0;
  });
}

// They are replaced when this library is loaded, like those of the reserve: another thread of the
// program may use oneDNN at any later time.
const bool replaced = replace_openmp_calls();

}  // namespace

bool divides_primitives() noexcept {
  return replaced;
}

OpenMpThreads::OpenMpThreads() noexcept {
  // Checked by the builds for the sanitizers. An inner scope would end the outer one with its own.
  assert(state.max_threads == 0);
  if (replaced) {
    state.max_threads = 1;
    return;
  }
  before_ = omp_get_max_threads();
  if (before_ != 1) omp_set_num_threads(1);
}

OpenMpThreads::~OpenMpThreads() {
  if (state.team != nullptr) state.team->end();
  state = {};
  if (before_ != 1) omp_set_num_threads(before_);
}

void OpenMpThreads::lead(queue::Team& team, queue::LaneId leader, uint32_t helpers) noexcept {
  team.begin(leader, helpers);
  state.team = &team;
  state.leader = leader;
}

OneOpenMpThread::OneOpenMpThread() noexcept : before_(state.max_threads) {
  if (before_ != 0) state.max_threads = 1;
}

OneOpenMpThread::~OneOpenMpThread() {
  state.max_threads = before_;
}

void OpenMpThreads::set(uint32_t threads) noexcept {
  if (replaced) state.max_threads = threads;
}

bool take_refused_barrier() noexcept {
  const bool refused = state.refused_barrier;
  if (refused) state.refused_barrier = false;
  return refused;
}

}  // namespace millrace::device::cpu
