// FaultPlan: the fault injection of a faulty device. All held, failing, hanging and slow jobs of
// tests, soak runs and host programs under test come from such a plan.
//
//   arrives -> [held at the gate] -> [delayed] -> [hangs] -> [fails] or runs on the inner device
//                                                                   -> [outputs filled with NaN]
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
// job: the subject is the job's sequence id, the detail has the number of the fault, 1 for the
// first of this plan, and the name of its kind: "hold", "fail", "hang", "slow", "nan", "oom",
// "full" or "fdloss".
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
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "device/device.h"
#include "device/faulty/fault_rule.h"
#include "device/faulty/fault_settings.h"
#include "queue/requests/acceptance_order.h"
#include "queue/requests/run_control.h"

namespace millrace::device {

// The number of injected faults of each kind.
struct FaultCounts {
  uint64_t holds = 0;  // frames that had to wait at the gate
  uint64_t failures = 0;
  uint64_t hangs = 0;
  uint64_t slows = 0;
  uint64_t nans = 0;      // frames with outputs that were filled with NaN
  uint64_t refusals = 0;  // allocations, calls and uses of descriptors that were refused
  uint64_t total() const noexcept { return holds + failures + hangs + slows + nans + refusals; }
};

// The outputs that rules fill with NaN after a frame has run.
class SpoiltOutputs {
 public:
  bool any() const noexcept { return chosen_ != 0; }
  bool has(std::string_view output) const noexcept;

 private:
  friend class FaultPlan;
  std::shared_ptr<const FaultRules> rules_;
  uint64_t chosen_ = 0;  // a bit for each rule that selects the frame
};

// The faults of a frame, in the order in which they happen to it.
struct FrameFaults {
  std::chrono::nanoseconds delay{0};
  std::chrono::nanoseconds hang_for{0};
  Status failure;
  SpoiltOutputs spoilt;
};

class FaultPlan {
 public:
  FaultPlan() = default;  // injects nothing
  FaultPlan(const FaultPlan&) = delete;
  FaultPlan& operator=(const FaultPlan&) = delete;

  // Parses parts that semicolons separate. A part is a list of settings, such as
  // "fail=3,slow=2ms,seed=42", or a rule, such as "fail:jobs=5-9,p=10%". An empty text means no
  // faults. docs/faults.md has the grammar. kInvalidArgument names what is invalid, which includes
  // rules that transfers cannot follow.
  static Result<FaultSettings> parse(std::string_view text, Work work = Work::kJob);
  // Adds the settings to the plan; its random faults replace the earlier ones. Rules count from the
  // next job to be accepted, or from the first of the unit that they name.
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
  // Adds rules. Failures that are set by the functions above take precedence over theirs, and those
  // of an earlier rule over those of a later one; delays add up.
  void add_rules(const FaultRules& rules);
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

  // Returns the faults that a job will meet, without effects on the plan. `job.number` counts from
  // the beginning of the plan.
  FrameFaults foresee(const FaultedJob& job) const;

  // Return the failure of the next allocation of the program, of its next use of a file descriptor,
  // and of its next call that submits a job, or OK. All are counted from 1 since rules were added
  // last, in the order of these calls. `unit` is the id of the unit that the call is for; 0: a unit
  // is chosen later.
  Status admit_allocation() noexcept { return admit(FaultSubject::kAllocations, allocations_); }
  Status admit_descriptor() noexcept { return admit(FaultSubject::kDescriptors, descriptors_); }
  Status admit_call(uint16_t unit = 0) noexcept {
    return admit(FaultSubject::kCalls, calls_, unit);
  }
  // For the runtime, when it has made a unit on the device: tells the plan its id and name, for
  // rules that name units. kOutOfMemory if it cannot keep the name.
  Status name_unit(uint16_t id, const std::string& name) noexcept;
  // Returns the rules in force.
  FaultRules rules() const;
  // For the units of the device: numbers the jobs.
  const std::shared_ptr<queue::AcceptanceOrder>& order() const noexcept { return order_; }
  // For the device: called around each frame, on the thread that runs it. enter() injects the
  // faults and returns the failure of the frame, or OK if the frame has to run on the inner device.
  // leave() must be called in both cases, when the frame is done. `model` is the name of the model
  // that runs; `spoilt` becomes the outputs to be filled with NaN after a success.
  Status enter(const queue::RunControl& control, std::string_view model = {},
               SpoiltOutputs* spoilt = nullptr) noexcept;
  // For the device: called before leave() when it has filled outputs of a frame with NaN.
  void note_spoilt(const queue::RunControl& control) noexcept;
  void leave() noexcept;
  // For the device: called when a frame on the inner device begins a partition. Returns when the
  // frame may continue, or a stop is requested.
  void enter_partition(uint32_t partition, const queue::RunControl& control) noexcept;

 private:
  using Lock = std::unique_lock<std::mutex>;
  using FrameOfJob = std::pair<uint64_t, uint16_t>;  // number of the job, and of the frame in it

  // A frame on the device, with its faults, which are decided when it arrives.
  struct Frame {
    FrameFaults faults;
    bool held = false;
    uint64_t hangs_ended = 0;  // the plan's hangs_ended_ at the arrival
    Frame* next = nullptr;     // next in the list of held frames
  };

  void close_gate(std::optional<uint32_t> partition);
  void arrive(const FaultedJob& job, Frame& frame);
  void come_to_gate(Frame& frame);
  FaultedJob job_of(const queue::RunControl& control, std::string_view model);
  bool is_every_nth(const FaultedJob& job) const;
  // The following functions require the lock.
  FrameFaults decide(const FaultedJob& job) const;
  void decide_randomly(const FaultedJob& job, FrameFaults& faults) const;
  void decide_by_rules(FaultedJob job, FrameFaults& faults) const;
  Status admit(FaultSubject subject, uint64_t& count, uint16_t unit = 0) noexcept;
  void hold_back(Frame& frame);
  void let_first_go();
  Status wait_at_gate(Frame& frame, const queue::RunControl& control, Lock& lock);
  Status wait_out_delay(const Frame& frame, const queue::RunControl& control, Lock& lock);
  void hang(const Frame& frame, const queue::RunControl& control, Lock& lock);
  // Counts and emits a fault with the name of its kind; the lock is released meanwhile.
  void inject(uint64_t FaultCounts::*kind, const char* name, queue::SequenceId sequence,
              Lock& lock);

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
  // Replaced as a whole, since frames that are on the device keep the rules that selected them.
  std::shared_ptr<const FaultRules> rules_;
  uint64_t rules_since_ = 0;
  struct NamedUnit {
    std::string name;
    uint64_t calls = 0;  // that submit a job to it
  };
  std::map<uint16_t, NamedUnit> units_;  // by their ids

  uint64_t arrivals_ = 0;
  uint64_t allocations_ = 0, calls_ = 0, descriptors_ = 0;
  uint64_t hangs_ended_ = 0;  // number of calls of end_hangs()
  uint32_t inside_ = 0, most_at_once_ = 0;
  FaultCounts counts_;
};

}  // namespace millrace::device
