// Profile: measures the time of each operator in the jobs of one program.
//
// Every moment of a job, from its start on a lane to its end, belongs to one share: to the operator
// that has begun last, to the inputs (from the beginning of a frame to its first operator), or to
// the outputs (from the end of its last operator). So the shares add up to the time of the jobs.
//
// Thread-safe: each running job records into a Recorder of its own, which is added to the totals
// when the job ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "device/device.h"
#include "queue/requests/run_control.h"

namespace millrace::runtime {

struct TimeShare {
  uint64_t calls = 0;
  int64_t total_ns = 0;
  int64_t min_ns = 0;  // shortest call; 0 if there is none
  int64_t max_ns = 0;

  void add(const TimeShare& more) noexcept;
};

struct ProfileTotals {
  uint64_t jobs = 0;
  uint64_t frames = 0;
  int64_t execute_ns = 0;
  TimeShare inputs, outputs;
  std::vector<TimeShare> steps;  // in the order of ProgramInfo::steps
};

class Profile {
 public:
  explicit Profile(const device::Program& program);
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  // Returns the sums over all jobs that have ended, successfully or not.
  ProfileTotals totals() const;

  // Measures one job from the constructor to the destructor, on the thread that runs it. If there
  // is no memory for a Recorder, the job is not recorded.
  class Recorder;
  class Run {
   public:
    Run(Profile& profile, queue::RunControl& control) noexcept;
    ~Run();
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

   private:
    Profile& profile_;
    std::unique_ptr<Recorder> recorder_;
    std::optional<queue::ObserverScope> observed_;
  };

 private:
  std::unique_ptr<Recorder> take_recorder() noexcept;
  void give_back(std::unique_ptr<Recorder> recorder) noexcept;

  mutable std::mutex mutex_;
  ProfileTotals totals_;
  // Unused recorders. They are reused, so there are as many as jobs have run at the same time.
  std::vector<std::unique_ptr<Recorder>> idle_;
  size_t recorders_ = 0;
};

}  // namespace millrace::runtime
