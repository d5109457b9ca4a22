// A discrete-event simulation: the clock jumps from event to event. There are two kinds of events,
// arrivals and ends of jobs; whatever can happen between two events happens at the first of them.
#include "cli/simulate/simulation.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <queue>
#include <set>
#include <utility>

#include "cli/bench/poisson_arrivals.h"

namespace millrace::cli {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr double kNsPerSecond = 1e9, kNsPerMs = 1e6;

// The times at which jobs arrive, ascending.
class ArrivalTimes {
 public:
  explicit ArrivalTimes(const SimulatedLoad& load)
      : load_(load), random_(std::max(load.per_second, 1e-9), load.seed) {}

  int64_t next_ns() {
    ++count_;
    if (load_.arrivals == Arrivals::kPoisson) return random_.next_ns();
    return static_cast<int64_t>(static_cast<double>(count_ - 1) * kNsPerSecond / load_.per_second);
  }

 private:
  const SimulatedLoad& load_;
  PoissonArrivals random_;
  uint64_t count_ = 0;
};

class Simulation {
 public:
  Simulation(const SimulatedSystem& system, const SimulatedLoad& load)
      : system_(system),
        load_(load),
        arrivals_(load),
        units_(system.units),
        free_lanes_(system.lanes) {}

  SimulatedRun run() {
    if (is_open())
      next_arrival_ns_ = arrivals_.next_ns();
    else
      for (uint32_t i = 0; i < std::min<uint64_t>(load_.in_flight, load_.jobs); ++i) arrive();
    settle();
    while (next_arrival_ns_ != kNever || !running_.empty()) advance();
    result_.seconds = static_cast<double>(now_ns_ - first_arrival_ns_) / kNsPerSecond;
    const double available = result_.seconds * system_.lanes;
    result_.utilisation = available > 0 ? busy_ns_ / kNsPerSecond / available : 0;
    return std::move(result_);
  }

 private:
  struct Job {
    uint64_t number = 0;
    int64_t arrived_ns = 0;
  };
  struct Unit {
    std::deque<Job> waiting;
    bool busy = false;  // a lane runs one of its jobs
    uint32_t in_flight() const { return static_cast<uint32_t>(waiting.size()) + (busy ? 1 : 0); }
  };
  struct End {
    int64_t at_ns;
    uint64_t number;
    uint32_t unit;
    int64_t arrived_ns;
    // The earliest is on top of a priority queue; of two at the same time, the older job.
    bool operator<(const End& other) const {
      return std::pair(at_ns, number) > std::pair(other.at_ns, other.number);
    }
  };

  bool is_open() const { return load_.per_second > 0; }

  // Goes to the next event. A job that ends makes room before one arrives at the same time.
  void advance() {
    const int64_t end_ns = running_.empty() ? kNever : running_.top().at_ns;
    now_ns_ = std::min(end_ns, next_arrival_ns_);
    if (end_ns <= next_arrival_ns_)
      end_job();
    else
      arrive();
    settle();
  }

  // Does all that is possible at this time.
  void settle() {
    submit_pending();
    start_jobs();
    // A job that has started makes no room in its unit, so nothing more can be submitted.
    const size_t waiting = waiting_ + pending_.size();
    result_.most_waiting = std::max(result_.most_waiting, static_cast<uint32_t>(waiting));
  }

  void arrive() {
    if (arrived_ == 0) first_arrival_ns_ = now_ns_;
    pending_.push_back({arrived_++, now_ns_});
    if (is_open()) next_arrival_ns_ = arrived_ < load_.jobs ? arrivals_.next_ns() : kNever;
  }

  // The program submits its jobs in order, so the first one that is blocked blocks the others.
  void submit_pending() {
    while (!pending_.empty() && submit(pending_.front())) pending_.pop_front();
  }

  // Returns false if the program is blocked.
  bool submit(const Job& job) {
    const auto index = static_cast<uint32_t>(job.number % system_.units);
    Unit& unit = units_[index];
    if (unit.in_flight() >= system_.depth) {
      if (system_.on_full == OnFull::kBlock) return false;
      // Where the only place is taken by the job that runs, there is no older one to drop.
      if (system_.on_full == OnFull::kRefuse || unit.waiting.empty()) {
        ++result_.refused;
        return true;
      }
      take_first(index);
      make_ready(index);
      ++result_.dropped;
    }
    unit.waiting.push_back(job);
    ++waiting_;
    make_ready(index);
    return true;
  }

  // Notes that a lane may take the unit, if that is so.
  void make_ready(uint32_t index) {
    const Unit& unit = units_[index];
    if (!unit.busy && !unit.waiting.empty()) ready_.insert({unit.waiting.front().number, index});
  }

  // Removes the job that has waited longest in the unit, and returns it.
  Job take_first(uint32_t index) {
    Unit& unit = units_[index];
    const Job first = unit.waiting.front();
    ready_.erase({first.number, index});
    unit.waiting.pop_front();
    --waiting_;
    return first;
  }

  void start_jobs() {
    while (free_lanes_ > 0 && !ready_.empty()) {
      const uint32_t index = ready_.begin()->second;
      const Job job = take_first(index);
      units_[index].busy = true;
      --free_lanes_;
      const int64_t service_ns = service_of(job);
      busy_ns_ += static_cast<double>(service_ns);
      running_.push({now_ns_ + service_ns, job.number, index, job.arrived_ns});
    }
  }

  void end_job() {
    const End end = running_.top();
    running_.pop();
    ++free_lanes_;
    units_[end.unit].busy = false;
    make_ready(end.unit);
    result_.latencies_ms.push_back(static_cast<double>(end.at_ns - end.arrived_ns) / kNsPerMs);
    if (!is_open() && arrived_ < load_.jobs) arrive();
  }

  // Each rank has times of its own; the job ends with the last of them.
  int64_t service_of(const Job& job) const {
    int64_t longest = 0;
    for (uint32_t rank = 0; rank < system_.ranks; ++rank)
      longest =
          std::max<int64_t>(longest, system_.times->draw(load_.seed + rank, job.number).count());
    return longest;
  }

  const SimulatedSystem& system_;
  const SimulatedLoad& load_;
  ArrivalTimes arrivals_;
  std::vector<Unit> units_;
  std::set<std::pair<uint64_t, uint32_t>> ready_;  // idle units that have work, by their first job
  std::priority_queue<End> running_;
  std::deque<Job> pending_;  // have arrived, but are not submitted yet
  uint32_t free_lanes_;
  size_t waiting_ = 0;  // in all units
  uint64_t arrived_ = 0;
  int64_t now_ns_ = 0, first_arrival_ns_ = 0, next_arrival_ns_ = kNever;
  double busy_ns_ = 0;
  SimulatedRun result_;
};

}  // namespace

SimulatedRun simulate(const SimulatedSystem& system, const SimulatedLoad& load) {
  return Simulation(system, load).run();
}

}  // namespace millrace::cli
