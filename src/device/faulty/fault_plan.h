// FaultPlan: the fault injection of a faulty device. All held, failing, hanging and slow jobs of
// tests, soak runs and host programs under test come from such a plan.
//
//   arrives -> [held at the gate] -> [delayed] -> [hangs] -> [fails] or runs on the inner device
//
// The gate can also be inside the model, at the beginning of a partition.
//
// A plan numbers jobs from 1, over all units and sessions of the device, in the order in which
// these accept them. A job that is cancelled before it runs still uses a number; a refused job does
// not. So a given plan affects the same jobs in every run, on any number of lanes. A frame that
// does not come from a unit counts as a job that is accepted at its arrival.
//
// The device sees frames: a job of n frames arrives n times. The faults of a frame are decided when
// it arrives. A frame that is held or delayed is between two pieces of work: it ends within a
// millisecond when a stop is requested. A frame that hangs does not.
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

// The default duration of a hang: until end_hangs().
inline constexpr std::chrono::nanoseconds kHangForever = std::chrono::nanoseconds::max();

// Returns the default failure of a job, kDeviceFailed.
const Status& injected_failure();

// Random faults, each drawn independently for every frame.
struct FaultRates {
  double fail = 0, hang = 0, slow = 0;  // probabilities, 0 to 1
  Status failure = injected_failure();
  std::chrono::nanoseconds hang_for = kHangForever;
  std::chrono::nanoseconds slow_for = std::chrono::milliseconds(1);
};

// The settings of a plan that a text can specify; see FaultPlan::parse.
struct FaultSettings {
  uint64_t fail = 0;                 // number of the job that fails, 1 for the next; 0: none
  uint64_t fail_every = 0;           // every n-th job fails; 0: none
  uint64_t hang = 0;                 // number of the job that hangs; 0: none
  std::chrono::nanoseconds slow{0};  // every frame takes this much longer
  uint64_t seed = 0;
  FaultRates rates;  // `failure` and `hang_for` apply to the faults above as well
};

// The number of injected faults of each kind.
struct FaultCounts {
  uint64_t holds = 0;  // frames that had to wait at the gate
  uint64_t failures = 0;
  uint64_t hangs = 0;
  uint64_t slows = 0;
  uint64_t total() const noexcept { return holds + failures + hangs + slows; }
};

class FaultPlan {
 public:
  FaultPlan() = default;  // injects nothing
  FaultPlan(const FaultPlan&) = delete;
  FaultPlan& operator=(const FaultPlan&) = delete;

  // Parses settings such as "fail=3,hang=7,slow=2ms,seed=42,fail_rate=0.01". An empty text means no
  // faults. docs/devices.md lists the keys. kInvalidArgument names the setting that is invalid.
  static Result<FaultSettings> parse(std::string_view text);
  // Adds the settings to the plan; its random faults replace the earlier ones.
  void apply(const FaultSettings& settings);

  // Closes the gate: no frame that arrives from now on passes, except as let_through() allows.
  void hold();
  // Closes a gate at the beginning of that partition of the model, on devices that report it
  // (Context::run). Frames that are beyond it have passed.
  void hold_at(uint32_t partition);
  // Opens the gate: the frames that are held pass, and those that arrive later.
  void release();
  // Lets `frames` more frames pass a closed gate, in the order of their arrival: those that wait,
  // then the next to arrive. Does nothing if the gate is open.
  void let_through(uint64_t frames);

  // Set faults. Numbers are at least 1, and 1 is the next job to be accepted. Calls with different
  // numbers add up; a failure set for one job takes precedence over fail_every, and that over
  // random failures. If a job has several frames, the first is affected, or the one with the number
  // `frame`, from 0. A frame that fails does not run: its outputs and those of later frames of the
  // job stay unchanged.
  void fail_nth(uint64_t n, Status status = injected_failure(), uint16_t frame = 0);
  void fail_every(uint64_t n, Status status = injected_failure());
  void fail_all(Status status = injected_failure()) { fail_every(1, std::move(status)); }
  // The job blocks, even if a stop is requested, for `how_long` or until end_hangs(); then it runs.
  void hang_nth(uint64_t n, std::chrono::nanoseconds how_long = kHangForever);
  // Ends the hang of every frame that has arrived, even if the frame has not begun to hang yet.
  void end_hangs();
  // Every frame takes `delay` longer; zero ends that.
  void slow(std::chrono::nanoseconds delay);
  // Sets random faults. The faults of a frame of the n-th job from now depend only on `seed`, n and
  // the number of the frame in the job.
  void randomize(uint64_t seed, const FaultRates& rates);
  // Removes all faults for frames that arrive from now on. The gate and hanging frames stay as they
  // are: heal(), release() and end_hangs() together let everything continue.
  void heal();

  // Counts since the plan was created.
  uint64_t arrivals() const;  // of frames
  // Waits until at least `frames` frames have arrived.
  void await_arrivals(uint64_t frames);
  // Waits until at least `frames` frames have been held at the gate.
  void await_holds(uint64_t frames);
  // Waits until at least `frames` frames have begun to hang.
  void await_hangs(uint64_t frames);
  // Returns the largest number of frames that were on the device at the same time, at the gate or
  // past it.
  uint32_t most_at_once() const;
  FaultCounts counts() const;

  // For the units of the device: numbers the jobs.
  const std::shared_ptr<queue::AcceptanceOrder>& order() const noexcept { return order_; }
  // For the device: called around each frame, on the thread that runs it. enter() injects the
  // faults and returns the failure of the frame, or OK if the frame has to run on the inner device.
  // leave() must be called in both cases, when the frame is done.
  Status enter(const queue::RunControl& control) noexcept;
  void leave() noexcept;
  // For the device: called when a frame on the inner device begins a partition. Returns when the
  // frame may continue, or a stop is requested.
  void enter_partition(uint32_t partition, const queue::RunControl& control) noexcept;

 private:
  using Lock = std::unique_lock<std::mutex>;
  using FrameOfJob = std::pair<uint64_t, uint16_t>;  // number of the job, and of the frame in it

  // The faults of a frame, which are decided when it arrives.
  struct Frame {
    bool held = false;
    std::chrono::nanoseconds delay{0};
    std::chrono::nanoseconds hang_for{0};
    uint64_t hangs_ended = 0;  // the plan's hangs_ended_ at the arrival
    Status failure;
    Frame* next = nullptr;  // next in the list of held frames
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
  std::optional<uint32_t> gate_at_;  // the partition at which the gate is; not set: at the arrival
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
  uint64_t hangs_ended_ = 0;  // number of calls of end_hangs()
  uint32_t inside_ = 0, most_at_once_ = 0;
  FaultCounts counts_;
};

}  // namespace millrace::device
