// FaultPlan: what goes wrong on a faulty device, and when. The only way in which tests, soak runs
// and host programs under test get held, failing, hanging and slow jobs.
//
//   arrives -> [held at the gate] -> [delayed] -> [hangs] -> [fails] or runs on the inner device
//
// The gate can stand inside the model instead, where frames begin a partition of it.
//
// A plan counts jobs, in the order in which units and sessions accept them, from 1, over all units
// and sessions of the device. A job keeps its number whatever becomes of it, so a given plan
// affects the same jobs in every run, on any number of lanes; a job that is cancelled before it
// runs uses its number up. A refused job has none. A frame that comes by no unit counts as a job
// that is accepted at its arrival.
//
// Frames are what reaches the device: a job of n frames arrives n times. The faults of a frame are
// decided when it arrives. A frame that is held or delayed is between two pieces of work: it
// gives up within a millisecond when a stop is requested. One that hangs does not.
//
// Every injected fault is counted and emitted as HookPoint::kInjected, on the thread that runs the
// job: the subject is the job's sequence id, the detail the number of the fault, 1 for the first of
// this plan.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "queue/requests/acceptance_order.h"
#include "queue/requests/run_control.h"

namespace millrace::device {

// How long a hang lasts by default: until end_hangs().
inline constexpr std::chrono::nanoseconds kHangForever = std::chrono::nanoseconds::max();

// The failure of a job by default: kDeviceFailed.
const Status& injected_failure();

// Random faults, each drawn on its own for every frame.
struct FaultRates {
  double fail = 0, hang = 0, slow = 0;  // probabilities, 0 to 1
  Status failure = injected_failure();
  std::chrono::nanoseconds hang_for = kHangForever;
  std::chrono::nanoseconds slow_for = std::chrono::milliseconds(1);
};

// A plan as text can say it; see FaultPlan::parse.
struct FaultSettings {
  uint64_t fail = 0;        // the number of the job that fails, 1 for the next; 0: none
  uint64_t fail_every = 0;  // 0: none
  uint64_t hang = 0;        // the number of the job that hangs; 0: none
  std::chrono::nanoseconds slow{0};
  uint64_t seed = 0;
  FaultRates rates;  // `failure` and `hang_for` apply to the faults above as well
};

// How often each kind of fault was injected.
struct FaultCounts {
  uint64_t holds = 0;  // frames that had to wait at the gate
  uint64_t failures = 0;
  uint64_t hangs = 0;
  uint64_t slows = 0;
  uint64_t total() const noexcept { return holds + failures + hangs + slows; }
};

class FaultPlan {
 public:
  FaultPlan() = default;  // everything passes
  FaultPlan(const FaultPlan&) = delete;
  FaultPlan& operator=(const FaultPlan&) = delete;

  // Settings from text: "fail=3,hang=7,slow=2ms,seed=42,fail_rate=0.01". Empty text is no faults.
  // docs/devices.md lists the keys. kInvalidArgument names the word that makes no sense.
  static Result<FaultSettings> parse(std::string_view text);
  // Adds the settings to the plan; its random faults replace the earlier ones.
  void apply(const FaultSettings& settings);

  // The gate. No frame that arrives from now on passes, except as let_through() allows.
  void hold();
  // The same, but the gate stands where frames begin that partition of the model, on devices that
  // report it (Context::run); frames that are beyond it have passed.
  void hold_at(uint32_t partition);
  // Everything passes: what is held now, and what arrives later.
  void release();
  // Lets so many more frames pass a held gate, in the order of their arrival: those that wait, then
  // the next to arrive. Nothing when the gate is not held.
  void let_through(uint64_t frames);

  // Faults. Numbers are at least 1, and 1 is the next job to be accepted. Calls with different
  // numbers add up; a failure set for one job takes precedence over fail_every, and that over
  // random ones. Of a job with several frames the first is affected, or the one with the number
  // `frame`, from 0. A frame that fails does not run: its outputs stay as they are, and so do those
  // of the frames behind it.
  void fail_nth(uint64_t n, Status status = injected_failure(), uint16_t frame = 0);
  void fail_every(uint64_t n, Status status = injected_failure());
  void fail_all(Status status = injected_failure()) { fail_every(1, std::move(status)); }
  // The job blocks, whatever is requested, until end_hangs() or for so long; then it runs, late.
  void hang_nth(uint64_t n, std::chrono::nanoseconds how_long = kHangForever);
  // Ends the hang of every frame that has arrived, also of one that has not come to it yet.
  void end_hangs();
  // Every frame takes so much longer; zero ends that.
  void slow(std::chrono::nanoseconds delay);
  // Random faults: which ones a frame of the n-th job from now has depends on nothing but `seed`, n
  // and the number of the frame in the job.
  void randomize(uint64_t seed, const FaultRates& rates);
  // No fault affects a frame that arrives from now on. Leaves the gate and hanging frames as they
  // are: heal(), release() and end_hangs() together let everything go.
  void heal();

  // Counts of what has happened since the plan was made.
  uint64_t arrivals() const;  // of frames
  // Returns when at least so many frames have arrived.
  void await_arrivals(uint64_t frames);
  // Returns when at least so many frames have had to wait at the gate.
  void await_holds(uint64_t frames);
  // Returns when at least so many frames have begun to hang.
  void await_hangs(uint64_t frames);
  // The largest number of frames that were on the device at the same time, at the gate or behind.
  uint32_t most_at_once() const;
  FaultCounts counts() const;

  // For the units of the device: numbers the jobs.
  const std::shared_ptr<queue::AcceptanceOrder>& order() const noexcept { return order_; }
  // For the device: around each frame, on the thread that runs it. Returns what the frame fails
  // with, or OK for one that runs on the inner device. leave() follows in both cases, when the
  // frame is done.
  Status enter(const queue::RunControl& control) noexcept;
  void leave() noexcept;
  // For the device: a frame on the inner device begins a partition. Returns when it may go on, or a
  // stop is requested.
  void enter_partition(uint32_t partition, const queue::RunControl& control) noexcept;

 private:
  using Lock = std::unique_lock<std::mutex>;
  using FrameOfJob = std::pair<uint64_t, uint16_t>;  // number of the job, number of the frame in it

  // The decision about a frame that was made when it arrived.
  struct Frame {
    bool held = false;
    std::chrono::nanoseconds delay{0};
    std::chrono::nanoseconds hang_for{0};
    uint64_t hangs_ended = 0;  // of the plan, at the arrival
    Status failure;
    Frame* next = nullptr;  // among the held frames
  };

  void close_gate(std::optional<uint32_t> partition);
  void arrive(const FrameOfJob& which, Frame& frame);
  void come_to_gate(Frame& frame);
  FrameOfJob frame_of(const queue::RunControl& control);
  bool is_every_nth(const FrameOfJob& which) const;
  void decide(const FrameOfJob& which, Frame& frame);
  void decide_randomly(const FrameOfJob& which, Frame& frame);
  void hold_back(Frame& frame);
  void let_first_go();
  Status wait_at_gate(Frame& frame, const queue::RunControl& control, Lock& lock);
  Status wait_out_delay(const Frame& frame, const queue::RunControl& control, Lock& lock);
  void hang(const Frame& frame, const queue::RunControl& control, Lock& lock);
  // Counts and emits a fault; the lock is released meanwhile.
  void inject(uint64_t FaultCounts::*kind, const queue::RunControl& control, Lock& lock);

  const std::shared_ptr<queue::AcceptanceOrder> order_ = std::make_shared<queue::AcceptanceOrder>();
  mutable std::mutex mutex_;
  std::condition_variable changed_;

  bool held_ = false;
  std::optional<uint32_t> gate_at_;  // the partition before which the gate stands; none: arrival
  uint64_t allowed_ = 0;             // frames that may still pass the held gate without waiting
  Frame* first_held_ = nullptr;      // in the order of arrival

  std::map<FrameOfJob, Status> failures_;
  std::map<FrameOfJob, std::chrono::nanoseconds> hangs_;
  uint64_t fail_every_ = 0, fail_every_since_ = 0;
  Status fail_every_with_;
  std::chrono::nanoseconds slow_{0};
  uint64_t seed_ = 0, random_since_ = 0;
  FaultRates rates_;

  uint64_t arrivals_ = 0;
  uint64_t hangs_ended_ = 0;  // calls of end_hangs
  uint32_t inside_ = 0, most_at_once_ = 0;
  FaultCounts counts_;
};

}  // namespace millrace::device
