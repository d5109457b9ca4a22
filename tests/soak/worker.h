// Worker: one thread of a soak run. Calls at random everything that a program may call on a unit.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "millrace/millrace.hpp"
#include "tests/failing_resources/failing_control.h"
#include "tests/soak/run_statistics.h"

namespace millrace::soak {

// A unit that all workers share, and the check of its callbacks.
struct SharedUnit {
  SharedUnit(Device& device, RunStatistics& statistics, UnitOptions options)
      : unit(device.create_unit(options).value()), callbacks(statistics, options.callback_order) {}

  Unit unit;
  CallbackCheck callbacks;
};

// State that all workers share.
struct World {
  Device& device;
  const Model& model;
  const JobArgs& args;  // without deadline and callback
  std::deque<SharedUnit>& units;
  SharedUnit& executing;           // one of them, on which execute is called, too
  const std::atomic<bool>& storm;  // jobs hang so often that only watched units get some
  RunStatistics& statistics;
  const test::FailingControl& failing;
};

class Worker {
 public:
  Worker(World world, uint64_t seed) : world_(world), random_(seed) {}

  // Runs until `stop` is true and everything that this worker has begun is done.
  void run(const std::atomic<bool>& stop);

 private:
  // A job whose result this worker has not collected yet.
  struct Held {
    Job job;
    std::shared_ptr<Record> record;
  };

  uint64_t below(uint64_t bound) { return random_() % bound; }
  std::chrono::microseconds up_to(std::chrono::microseconds longest) {
    return std::chrono::microseconds(below(static_cast<uint64_t>(longest.count())));
  }
  bool in_storm() const { return world_.storm.load(std::memory_order_relaxed); }
  SharedUnit& any_unit();
  void step();

  JobArgs random_job(CallbackCheck& callbacks, const std::shared_ptr<Record>& record, Unit* again);
  void accepted(CallbackCheck& callbacks);
  void refused(Unit& unit, const Status& status);

  void submit_one();
  void submit_several();
  void execute();
  void use_own_unit();
  void reset_one();

  void dispose(Held held);
  void cancel(Held& held);
  void collect(Held& held);
  void wait_for_some();

  const World world_;
  std::mt19937_64 random_;
  std::vector<Held> held_;
};

}  // namespace millrace::soak
