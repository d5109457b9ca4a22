// The stages run on three units: writes and reads on two TENSOR_OP queues, executions on the
// COMPUTE queue. An event loop on one eventfd moves each item to its next stage when a request
// completes.
#include "bench/nrt/pipeline.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>

#include "base/unique_fd.h"

namespace millrace::bench {
namespace {

using Clock = std::chrono::steady_clock;

enum Stage { kWrite, kExecute, kRead, kStages };

struct Unit {
  nrta_xu_t xu;
  int queue;
};
constexpr std::array<Unit, kStages> kUnits = {
    {{NRTA_XU_TENSOR_OP, 0}, {NRTA_XU_COMPUTE, 0}, {NRTA_XU_TENSOR_OP, 1}}};

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

nrta_seq_t schedule(const Face& face, Slot& slot, int stage, NRT_STATUS* ret) {
  nrta_seq_t id = 0;
  const int queue = kUnits[stage].queue;
  switch (stage) {
    case kWrite:
      expect_success(
          nrta_tensor_write(slot.input, slot.from.data(), 0, slot.from.size(), 0, queue, ret, &id),
          "nrta_tensor_write");
      break;
    case kExecute:
      expect_success(
          nrta_execute_schedule(face.model(), slot.inputs, slot.outputs, queue, ret, &id),
          "nrta_execute_schedule");
      break;
    default:
      expect_success(
          nrta_tensor_read(slot.to.data(), slot.output, 0, slot.to.size(), 0, queue, ret, &id),
          "nrta_tensor_read");
  }
  return id;
}

// One eventfd for all units: any completion wakes the loop.
class Events {
 public:
  Events() : fd_(eventfd(0, EFD_CLOEXEC)) {
    for (const Unit& unit : kUnits) listen(unit, fd_.get());
  }
  ~Events() {
    for (const Unit& unit : kUnits) nrta_event_register_xu_completion(0, unit.xu, unit.queue, -1);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  void await() const {
    uint64_t completions = 0;
    if (eventfd_read(fd_.get(), &completions) != 0) throw std::runtime_error("eventfd_read");
  }

 private:
  static void listen(const Unit& unit, int fd) {
    expect_success(nrta_event_register_xu_completion(0, unit.xu, unit.queue, fd),
                   "nrta_event_register_xu_completion");
  }
  const UniqueFd fd_;
};

bool is_completed(nrta_seq_t id) {
  bool completed = false;
  expect_success(nrta_is_completed(id, &completed), "nrta_is_completed");
  return completed;
}

void run_stage(const Face& face, Slot& slot, int stage, const Events& events) {
  NRT_STATUS ret = NRT_FAILURE;
  const nrta_seq_t id = schedule(face, slot, stage, &ret);
  while (!is_completed(id)) events.await();
  expect_success(ret, "a request");
}

// The progress of the item in a slot.
struct ItemState {
  int stage = kStages;  // kStages: the slot has no item
  nrta_seq_t id = 0;
  NRT_STATUS ret = NRT_SUCCESS;
};

}  // namespace

Slots make_slots(const Face& face, int count) {
  Slots slots;
  for (int i = 0; i < count; ++i) slots.push_back(std::make_unique<Slot>(face));
  return slots;
}

StageTimes measure_stages(const Face& face, Slot& slot) {
  constexpr int kRounds = 9;
  const Events events;
  std::array<std::vector<double>, kStages> times;
  for (int round = 0; round < kRounds; ++round) {
    for (int stage = kWrite; stage < kStages; ++stage) {
      const auto begin = Clock::now();
      run_stage(face, slot, stage, events);
      times[stage].push_back(milliseconds_since(begin));
    }
  }
  for (auto& stage : times) std::ranges::sort(stage);
  return {times[kWrite][kRounds / 2], times[kExecute][kRounds / 2], times[kRead][kRounds / 2]};
}

double run_one_in_flight(const Face& face, Slot& slot, int items) {
  const Events events;
  const auto begin = Clock::now();
  for (int item = 0; item < items; ++item)
    for (int stage = kWrite; stage < kStages; ++stage) run_stage(face, slot, stage, events);
  return milliseconds_since(begin);
}

double run_overlapped(const Face& face, const Slots& slots, int items) {
  const Events events;
  std::vector<ItemState> states(slots.size());
  int started = 0, finished = 0;
  // Moves the item of a slot to its next stage and returns true, or returns false if it must wait.
  const auto advance = [&](size_t at) {
    ItemState& item = states[at];
    if (item.stage == kStages) {
      if (started == items) return false;
      ++started;
      item.stage = kWrite;
    } else {
      if (!is_completed(item.id)) return false;
      expect_success(item.ret, "a request");
      if (++item.stage == kStages) return ++finished, true;
    }
    item.id = schedule(face, *slots[at], item.stage, &item.ret);
    return true;
  };
  const auto begin = Clock::now();
  while (finished < items) {
    bool moved = false;
    for (size_t at = 0; at < slots.size(); ++at) moved |= advance(at);
    if (!moved) events.await();
  }
  return milliseconds_since(begin);
}

}  // namespace millrace::bench
