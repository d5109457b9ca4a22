#include "timeline/timeline.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "base/polls.h"

namespace millrace::timeline {
namespace {

// Returns the time of day, in nanoseconds since 1970.
int64_t unix_ns() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count();
}

// Goes through the events in the order of their times.
class Builder {
 public:
  Builder(const Recording& recording, Timeline& timeline)
      : recording_(recording), timeline_(timeline) {}

  void add(const Event& event) {
    first_ns_.emplace(event.thread, event.time_ns);
    switch (event.point) {
      case HookPoint::kSubmitted:
        return submitted(event);
      case HookPoint::kStarted:
        return started(event);
      case HookPoint::kCompleted:
        return completed(event);
      case HookPoint::kPhaseBegan:
        return phase_began(event);
      case HookPoint::kWaitBegan:
      case HookPoint::kCallbackBegan:
        begun_[{event.thread, event.subject}] = event.time_ns;
        return;
      case HookPoint::kWaited:
        return ended(event, (event.detail & kPolled) != 0 ? HostWork::kPoll : HostWork::kWait);
      case HookPoint::kCallbackEnded:
        return ended(event, HostWork::kCallback);
      case HookPoint::kExchangeBegan:
        return exchange_began(event);
      case HookPoint::kExchangeEnded:
        return exchange_ended(event);
      default:
        timeline_.marks.push_back(event);
    }
  }

 private:
  // Adds a job, which later events with this id mean. Ids are unique among the units of one time,
  // so a later unit may have the same ones.
  Job& add_job(queue::SequenceId id) {
    jobs_[id] = timeline_.jobs.size();
    Job& job = timeline_.jobs.emplace_back();
    job.id = id;
    return job;
  }
  // Returns the job of this id that has not completed; a new one if its first event was dropped.
  Job& open_job(queue::SequenceId id) {
    const auto known = jobs_.find(id);
    if (known == jobs_.end() || timeline_.jobs[known->second].completed()) return add_job(id);
    return timeline_.jobs[known->second];
  }

  void submitted(const Event& event) {
    Job& job = add_job(event.subject);
    job.submitted_ns = event.time_ns;
    job.submitter = event.thread;
  }
  void started(const Event& event) {
    Job& job = open_job(event.subject);
    job.started_ns = event.time_ns;
    job.runner = event.thread;
    running_[event.thread] = job.id;
    job.lane = static_cast<queue::LaneId>(event.detail);
  }
  void completed(const Event& event) {
    Job& job = open_job(event.subject);
    job.completed_ns = event.time_ns;
    job.status = static_cast<StatusCode>(event.detail);
    // A job completes on the thread that ran it, or never ran.
    job.start_lost = !job.started() && may_lack_start(job, event.thread);
    if (!job.phases.empty()) job.phases.back().end_ns = event.time_ns;
    running_.erase(event.thread);
  }
  bool may_lack_start(const Job& job, ThreadId runner) const {
    if (recording_.may_lack(job.id, job.submitted_ns)) return true;
    return timeline_.dropped != 0 && job.submitted_ns < first_ns_.at(runner);
  }
  void phase_began(const Event& event) {
    std::vector<Phase>& phases = open_job(event.subject).phases;
    if (!phases.empty()) phases.back().end_ns = event.time_ns;
    phases.push_back({static_cast<NameId>(event.detail), event.time_ns, timeline_.end_ns});
  }
  void ended(const Event& event, HostWork work) {
    const auto begun = begun_.find({event.thread, event.subject});
    const int64_t since = begun == begun_.end() ? event.time_ns : begun->second;
    if (begun != begun_.end()) begun_.erase(begun);
    const StatusCode status =
        work == HostWork::kCallback ? StatusCode::kOk : static_cast<StatusCode>(event.detail);
    timeline_.host.push_back({work, event.thread, event.subject, since, event.time_ns, status});
  }

  void exchange_began(const Event& event) {
    const auto job = running_.find(event.thread);
    open_exchanges_[event.subject] = timeline_.exchanges.size();
    timeline_.exchanges.push_back({.id = event.subject,
                                   .bytes = event.detail,
                                   .thread = event.thread,
                                   .job = job == running_.end() ? 0 : job->second,
                                   .begin_ns = event.time_ns});
  }
  // One whose beginning was dropped is not shown.
  void exchange_ended(const Event& event) {
    const auto begun = open_exchanges_.find(event.subject);
    if (begun == open_exchanges_.end()) return;
    Exchange& exchange = timeline_.exchanges[begun->second];
    exchange.end_ns = event.time_ns;
    exchange.status = static_cast<StatusCode>(event.detail);
    open_exchanges_.erase(begun);
  }

  const Recording& recording_;
  Timeline& timeline_;
  std::unordered_map<queue::SequenceId, size_t> jobs_;  // the last of each id
  std::unordered_map<ThreadId, queue::SequenceId> running_;
  std::unordered_map<ExchangeId, size_t> open_exchanges_;
  std::map<std::pair<ThreadId, uint64_t>, int64_t> begun_;
  std::unordered_map<ThreadId, int64_t> first_ns_;  // time of the first event of each thread
};

// Whether threads of this name run the requests of one unit only (UnitOptions::own_thread). Such a
// unit has lanes of its own, whose numbers are also those of other lanes.
bool is_of_one_unit(const std::string& thread) {
  return thread == "millrace-unit" || thread == "millrace-mover" || thread == "millrace-collec";
}

// Puts every job that has started on a row. Numbers of lanes are unique within a device or a core
// to which sessions are bound, so two runs on lanes of one number may overlap; they are on
// different rows.
class RowTable {
 public:
  explicit RowTable(Timeline& timeline) : timeline_(timeline) {}

  void place(Job& job) {
    const auto name = timeline_.threads.find(job.runner);
    const bool own = name != timeline_.threads.end() && is_of_one_unit(name->second);
    std::vector<size_t>& rows = rows_[own ? Key{job.runner, queue::kNoLane} : Key{0, job.lane}];
    const auto free =
        std::ranges::find_if(rows, [&](size_t row) { return busy_until_[row] <= job.started_ns; });
    if (free != rows.end()) {
      job.row = *free;
    } else {
      job.row = timeline_.rows.size();
      rows.push_back(job.row);
      busy_until_.push_back(0);
      timeline_.rows.push_back(own ? Row{.name = name_of_unit(timeline_, queue::unit_of(job.id))}
                                   : Row{name_of_lane(job.lane, rows.size()), job.lane});
    }
    busy_until_[job.row] = job.completed() ? job.completed_ns : timeline_.end_ns;
  }

 private:
  using Key = std::pair<ThreadId, queue::LaneId>;

  static std::string name_of_lane(queue::LaneId lane, size_t which) {
    return which == 1 ? fmt::format("lane {}", lane) : fmt::format("lane {} ({})", lane, which);
  }

  Timeline& timeline_;
  std::map<Key, std::vector<size_t>> rows_;
  std::vector<int64_t> busy_until_;
};

// Removes the jobs that would seem to go on, although their completion may have been left out.
void remove_jobs_without_end(const Recording& recording, Timeline& timeline) {
  std::erase_if(timeline.jobs, [&](const Job& job) {
    return !job.completed() &&
           recording.may_lack(job.id, std::max(job.submitted_ns, job.started_ns));
  });
}

void place_jobs(Timeline& timeline) {
  std::vector<Job*> started;
  for (Job& job : timeline.jobs)
    if (job.started()) started.push_back(&job);
  std::ranges::stable_sort(started, {}, &Job::started_ns);
  RowTable table(timeline);
  for (Job* job : started) table.place(*job);
}

}  // namespace

std::string name_of_unit(const Timeline& timeline, uint16_t unit) {
  const auto name = timeline.units.find(unit);
  return name == timeline.units.end() || name->second.empty()
             ? fmt::format("unit {}", unit)
             : fmt::format("unit {}, {}", unit, name->second);
}

Timeline timeline_of(const Recording& recording) {
  Timeline timeline;
  timeline.begin_ns = recording.begin_ns;
  timeline.end_ns = recording.end_ns;
  timeline.begin_unix_ns = unix_ns() - (now_ns() - recording.begin_ns);
  timeline.process = static_cast<uint32_t>(::getpid());
  timeline.dropped = recording.dropped;
  timeline.threads = recording.threads;
  timeline.units = recording.units;
  Builder builder(recording, timeline);
  for (const Event& event : recording.events) builder.add(event);
  remove_jobs_without_end(recording, timeline);
  place_jobs(timeline);
  return timeline;
}

}  // namespace millrace::timeline
