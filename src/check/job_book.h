// JobBook: what the checker knows of the jobs of the process: those in flight, with the memory that
// they use, and those that have completed and of which the program has not asked the outcome. Of
// the latter the last few thousand are kept. Thread-safe.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "check/check.h"
#include "check/finding.h"
#include "check/input_sum.h"
#include "check/stack.h"
#include "queue/requests/ids.h"

namespace millrace::check {

// One tensor of a job.
struct Use {
  TensorPlace place;
  bool is_output = false;
  std::optional<uint64_t> device_copy{};  // where the device has a copy of its own
  // Guarded by the book.
  bool may_change = false;  // an input that may be written in flight
  InputSum submitted{};     // of an input, when the job was submitted
  InputSum started{};       // and when it began to run
};

struct WatchedJob {
  queue::SequenceId id = 0;
  JobTraits traits;
  std::string what;  // such as: model "resnet50"
  pid_t thread = 0;  // that which has submitted it
  int64_t submitted_ns = 0;
  Stack submitted;
  std::vector<Use> uses{};
  // Guarded by the book.
  bool begun = false;      // it runs, or has run
  bool asked = false;      // the program knows the outcome, or will
  bool discarded = false;  // its handle is being destroyed
  bool detached = false;   // its handle was given up
  uint64_t age = 0;

  // Returns the name that a timeline has, with the id that the program knows if that is another
  // one, such as: job 3:17 (5 of its runner) of model "resnet50".
  std::string name() const;
};
using JobPointer = std::shared_ptr<WatchedJob>;

// Two uses of the same memory by two jobs in flight.
struct Conflict {
  JobPointer earlier;
  TensorPlace earlier_place, later_place;
  bool both_write = false;
};

class JobBook {
 public:
  static constexpr size_t kMostUnasked = 4096, kMostResults = 4096;

  // Adds a job that is about to be submitted, and returns its first conflict with each of the jobs
  // in flight.
  std::vector<Conflict> add(const JobPointer& job);
  // Keeps the sums of the inputs of a job that begins to run, one for each use, unless it has been
  // completed meanwhile.
  void note_started(const WatchedJob& job, std::vector<InputSum> sums);
  // Removes a job from those in flight. Null for a job that was not added. From here on nothing
  // else changes its uses.
  JobPointer complete(queue::SequenceId id);

  // Notes that the program has asked for the outcome, and returns the job if it is still known.
  JobPointer note_asked(queue::SequenceId id);
  // Notes the same for the job and those before it in its unit.
  void note_asked_up_to(queue::SequenceId id);
  void note_unit_asked(uint16_t unit) noexcept { asked_units_[unit].store(true); }
  void note_all_asked() noexcept { all_asked_.store(true); }
  // Notes that the program will know the outcome of jobs in flight that write their status.
  void note_ends_all();
  // Returns a job that is in flight, or of whose outcome the program has not asked.
  JobPointer find(queue::SequenceId id);
  void note_discarded(queue::SequenceId id);
  void note_detached(queue::SequenceId id);

  // A use by a job in flight.
  struct Found {
    JobPointer job;
    TensorPlace place;
  };
  // Returns the first use that the memory overlaps. A reader only disturbs outputs.
  Found user_of(const void* data, size_t bytes, bool writes);
  // Returns the first use that lies within the memory.
  Found user_within(const void* data, size_t bytes);

  // Returns the job in flight that was submitted last of those of the model.
  JobPointer job_of_model(const void* model);

  // Returns the use of a job in flight that reads the copy on the device at this address.
  Found reader_of_copy(queue::SequenceId id, uint64_t device_address);
  // Returns the last job that has written the copy on the device at this address, other than
  // `except`. Of these results a few thousand are kept.
  Found writer_of_copy(uint64_t device_address, queue::SequenceId except);

  // Returns the jobs of whose outcome the program has never asked and cannot learn any more.
  std::vector<JobPointer> never_asked();

 private:
  using ById = std::unordered_map<queue::SequenceId, JobPointer>;

  bool is_asked(const WatchedJob& job) const noexcept;
  bool is_read_between(const JobPointer& earlier, const TensorPlace& place) const;
  void compare(const JobPointer& earlier, WatchedJob& later, std::vector<Conflict>& conflicts);
  JobPointer find_locked(queue::SequenceId id);
  void forget(queue::SequenceId id);
  void remember(const JobPointer& job);
  void keep_results(const JobPointer& job);

  std::mutex mutex_;
  ById in_flight_;
  ById unasked_;
  std::map<uint64_t, queue::SequenceId> unasked_by_age_;
  std::map<uint64_t, Found> results_;  // by the address of their first byte on the device
  std::set<std::pair<uint64_t, uint64_t>> results_by_age_;  // age of the job, address
  uint64_t next_age_ = 0;
  std::array<std::atomic<bool>, size_t{1} << 16> asked_units_{};
  std::atomic<bool> all_asked_{false};
};

}  // namespace millrace::check
