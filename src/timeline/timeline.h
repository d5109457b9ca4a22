// Timeline: what the events of a recording mean: jobs with their lanes and times, and what host
// threads did. Thread-safe, as values are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/exchange_events.h"
#include "base/names.h"
#include "base/status.h"
#include "queue/requests/ids.h"
#include "timeline/recorder.h"

namespace millrace::timeline {

// A part of a run, such as an operator.
struct Phase {
  NameId name = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

// A request of a unit. Times are 0 where the recording does not have the event: it has been
// dropped, or it has not happened.
struct Job {
  queue::SequenceId id = 0;
  int64_t submitted_ns = 0;
  int64_t started_ns = 0;
  int64_t completed_ns = 0;
  ThreadId submitter = 0;  // the thread that submitted it
  ThreadId runner = 0;     // the thread that ran it
  queue::LaneId lane = queue::kNoLane;
  size_t row = 0;  // index of its row in Timeline::rows, if it has started
  StatusCode status = StatusCode::kPending;
  bool start_lost = false;  // it may have run, but the thread that completed it has lost events
  std::vector<Phase> phases;

  bool started() const noexcept { return started_ns != 0; }
  bool completed() const noexcept { return completed_ns != 0; }
};

// A row of runs that do not overlap: of a lane, or of the thread of a unit that has its own.
struct Row {
  std::string name;
  queue::LaneId lane = queue::kNoLane;  // kNoLane for the thread of a unit
};

enum class HostWork : uint8_t { kWait, kPoll, kCallback };

// A wait for a job in a call, a wait by polls (base/polls.h), or a callback. A wait whose begin is
// unknown has the same time twice.
struct HostSlice {
  HostWork work = HostWork::kWait;
  ThreadId thread = 0;
  uint64_t subject = 0;  // the sequence id, or the id that the callback received
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  StatusCode status = StatusCode::kOk;  // of a wait; of polls kOk or kPending
};

// An exchange of data with other ranks: a collective operation, a send or a receive.
struct Exchange {
  ExchangeId id = 0;
  uint64_t bytes = 0;
  ThreadId thread = 0;
  queue::SequenceId job = 0;  // that this thread was running; 0: none
  int64_t begin_ns = 0;
  int64_t end_ns = 0;  // 0: it still went on
  StatusCode status = StatusCode::kPending;
};

struct Timeline {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  // The begin as the time of day, in nanoseconds since 1970, which other processes share.
  int64_t begin_unix_ns = 0;
  uint32_t process = 0;   // the id of the process
  uint64_t dropped = 0;   // events that the recording no longer has
  std::vector<Job> jobs;  // in the order in which they were submitted
  std::vector<Row> rows;
  std::vector<HostSlice> host;
  std::vector<Exchange> exchanges;  // in the order in which they began
  std::vector<Event> marks;         // events without duration: buffers, injected faults, refusals
  std::map<ThreadId, std::string> threads;
  std::map<uint16_t, std::string> units;
};

// Returns "unit 3, model/0", or "unit 3" for a unit without a name.
std::string name_of_unit(const Timeline& timeline, uint16_t unit);

Timeline timeline_of(const Recording& recording);

}  // namespace millrace::timeline
