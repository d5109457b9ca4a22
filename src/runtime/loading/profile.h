// Profile: where the time of the jobs of one program goes, operator by operator.
//
// Every moment of a job, from its start on a lane to its end, belongs to one share: to the operator
// that has begun last, to the inputs (from the begin of a frame to its first operator) or to the
// outputs (from the end of its last operator). So the shares add up to the time of the jobs.
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
  int64_t min_ns = 0;  // least time of one call; 0 while there is none
  int64_t max_ns = 0;

  void add(const TimeShare& more) noexcept;
};

struct ProfileTotals {
  uint64_t jobs = 0;
  uint64_t frames = 0;
  int64_t execute_ns = 0;
  TimeShare inputs, outputs;
  std::vector<TimeShare> steps;  // as ProgramInfo::steps
};

class Profile {
 public:
  explicit Profile(const device::Program& program);
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  // The sums over all jobs that have ended, with or without success. Thread-safe.
  ProfileTotals totals() const;

  // The time of one job, from here to the end of the block, on the thread that runs it. A job for
  // which there is no memory left is not recorded.
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
  // As many as jobs have run at once; none is made anew for a job.
  std::vector<std::unique_ptr<Recorder>> idle_;
  size_t recorders_ = 0;
};

}  // namespace millrace::runtime
