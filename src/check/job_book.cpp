#include "check/job_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace millrace::check {
namespace {

bool overlap(uintptr_t a, size_t a_bytes, uintptr_t b, size_t b_bytes) noexcept {
  return a_bytes != 0 && b_bytes != 0 && a < b + b_bytes && b < a + a_bytes;
}

bool overlap(const TensorPlace& a, const TensorPlace& b) noexcept {
  return overlap(a.address, a.bytes, b.address, b.bytes);
}

bool has_copy_at(const Use& use, uint64_t device_address) noexcept {
  return use.device_copy && device_address >= *use.device_copy &&
         device_address - *use.device_copy < use.place.bytes;
}

bool are_in_order(const WatchedJob& a, const WatchedJob& b) noexcept {
  return a.traits.in_order_of_unit && b.traits.in_order_of_unit &&
         queue::unit_of(a.id) == queue::unit_of(b.id);
}

// The input of a job that shares memory with one of its own outputs changes while the job runs.
void mark_own_changes(WatchedJob& job) {
  for (Use& input : job.uses)
    input.may_change |= !input.is_output && std::ranges::any_of(job.uses, [&](const Use& output) {
      return output.is_output && overlap(input.place, output.place);
    });
}

}  // namespace

std::string WatchedJob::name() const {
  std::string known;
  if (traits.shown_id != 0) known = fmt::format(" ({} of its runner)", traits.shown_id);
  if (traits.shown_unit)
    known = fmt::format(" (request {:#x})",
                        queue::sequence_of(*traits.shown_unit, queue::counter_of(id)));
  return fmt::format("job {}:{}{} of {}", queue::unit_of(id), queue::counter_of(id), known, what);
}

std::vector<Conflict> JobBook::add(const JobPointer& job) {
  std::vector<Conflict> conflicts;
  mark_own_changes(*job);
  const std::lock_guard lock(mutex_);
  job->age = next_age_++;
  for (const auto& [id, earlier] : in_flight_) compare(earlier, *job, conflicts);
  in_flight_[job->id] = job;
  return conflicts;
}

// Requirement: the mutex is held.
void JobBook::compare(const JobPointer& earlier, WatchedJob& later,
                      std::vector<Conflict>& conflicts) {
  const bool in_order = are_in_order(*earlier, later);
  bool found = false;
  for (Use& old_use : earlier->uses) {
    for (Use& new_use : later.uses) {
      if (!old_use.is_output && !new_use.is_output) continue;
      if (!overlap(old_use.place, new_use.place)) continue;
      const bool both_write = old_use.is_output && new_use.is_output;
      if (!new_use.is_output) new_use.may_change = true;
      if (!old_use.is_output && !in_order) old_use.may_change = true;
      if (in_order && (!both_write || is_read_between(earlier, old_use.place))) continue;
      if (!found) conflicts.push_back({earlier, old_use.place, new_use.place, both_write});
      found = true;
    }
  }
}

// Returns whether a job that the same unit runs after `earlier` reads the memory, so that it may be
// written again after that job. Requirement: the mutex is held.
bool JobBook::is_read_between(const JobPointer& earlier, const TensorPlace& place) const {
  return std::ranges::any_of(in_flight_, [&](const auto& entry) {
    const WatchedJob& job = *entry.second;
    return job.age > earlier->age && are_in_order(*earlier, job) &&
           std::ranges::any_of(job.uses, [&](const Use& use) {
             return !use.is_output && overlap(use.place, place);
           });
  });
}

void JobBook::note_started(const WatchedJob& job, std::vector<InputSum> sums) {
  const std::lock_guard lock(mutex_);
  const auto found = in_flight_.find(job.id);
  if (found == in_flight_.end() || found->second.get() != &job) return;
  found->second->begun = true;
  for (size_t i = 0; i < sums.size(); ++i) found->second->uses[i].started = std::move(sums[i]);
}

JobPointer JobBook::complete(queue::SequenceId id) {
  const std::lock_guard lock(mutex_);
  const auto found = in_flight_.find(id);
  if (found == in_flight_.end()) return nullptr;
  JobPointer job = std::move(found->second);
  in_flight_.erase(found);
  keep_results(job);
  const bool told = job->traits.has_callback && job->traits.shown_id != 0;
  if (!told && !is_asked(*job)) remember(job);
  return job;
}

bool JobBook::is_asked(const WatchedJob& job) const noexcept {
  return job.asked || all_asked_.load() || asked_units_[queue::unit_of(job.id)].load();
}

// Requirement for the following four functions: the mutex is held.
void JobBook::keep_results(const JobPointer& job) {
  for (const Use& use : job->uses) {
    if (!use.is_output || !use.device_copy || use.place.bytes == 0) continue;
    Found& result = results_[*use.device_copy];
    if (result.job != nullptr) results_by_age_.erase({result.job->age, *use.device_copy});
    result = {job, use.place};
    results_by_age_.emplace(job->age, *use.device_copy);
    if (results_.size() <= kMostResults) continue;
    results_.erase(results_by_age_.begin()->second);
    results_by_age_.erase(results_by_age_.begin());
  }
}

void JobBook::remember(const JobPointer& job) {
  forget(job->id);
  unasked_[job->id] = job;
  unasked_by_age_[job->age] = job->id;
  if (unasked_.size() > kMostUnasked) forget(unasked_by_age_.begin()->second);
}

void JobBook::forget(queue::SequenceId id) {
  const auto found = unasked_.find(id);
  if (found == unasked_.end()) return;
  unasked_by_age_.erase(found->second->age);
  unasked_.erase(found);
}

JobPointer JobBook::find_locked(queue::SequenceId id) {
  for (const ById* jobs : {&in_flight_, &unasked_})
    if (const auto found = jobs->find(id); found != jobs->end()) return found->second;
  return nullptr;
}

JobPointer JobBook::find(queue::SequenceId id) {
  const std::lock_guard lock(mutex_);
  return find_locked(id);
}

JobPointer JobBook::note_asked(queue::SequenceId id) {
  const std::lock_guard lock(mutex_);
  JobPointer job = find_locked(id);
  if (job == nullptr) return nullptr;
  job->asked = true;
  forget(id);
  return job;
}

void JobBook::note_ends_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, job] : in_flight_) job->asked = job->asked || job->traits.writes_status;
}

void JobBook::note_asked_up_to(queue::SequenceId id) {
  const auto is_before = [&](queue::SequenceId other) {
    return queue::unit_of(other) == queue::unit_of(id) && other <= id;
  };
  const std::lock_guard lock(mutex_);
  for (const auto& [other, job] : in_flight_)
    if (is_before(other)) job->asked = true;
  for (auto job = unasked_.begin(); job != unasked_.end();) {
    const bool is_asked = is_before(job->first);
    if (is_asked) unasked_by_age_.erase(job->second->age);
    job = is_asked ? unasked_.erase(job) : std::next(job);
  }
}

void JobBook::note_discarded(queue::SequenceId id) {
  const std::lock_guard lock(mutex_);
  if (const JobPointer job = find_locked(id)) job->discarded = true;
}

void JobBook::note_detached(queue::SequenceId id) {
  const std::lock_guard lock(mutex_);
  if (const JobPointer job = find_locked(id)) job->detached = true;
}

JobBook::Found JobBook::user_of(const void* data, size_t bytes, bool writes) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  const std::lock_guard lock(mutex_);
  for (const auto& [id, job] : in_flight_)
    for (const Use& use : job->uses)
      if ((writes || use.is_output) && overlap(use.place.address, use.place.bytes, address, bytes))
        return {job, use.place};
  return {};
}

JobBook::Found JobBook::user_within(const void* data, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  const std::lock_guard lock(mutex_);
  for (const auto& [id, job] : in_flight_)
    for (const Use& use : job->uses)
      if (use.place.bytes != 0 && use.place.address >= address &&
          use.place.address + use.place.bytes <= address + bytes)
        return {job, use.place};
  return {};
}

JobPointer JobBook::job_of_model(const void* model) {
  const std::lock_guard lock(mutex_);
  JobPointer last;
  for (const auto& [id, job] : in_flight_)
    if (job->traits.model == model && (last == nullptr || job->age > last->age)) last = job;
  return last;
}

JobBook::Found JobBook::reader_of_copy(queue::SequenceId id, uint64_t device_address) {
  const std::lock_guard lock(mutex_);
  const auto found = in_flight_.find(id);
  if (found == in_flight_.end()) return {};
  for (const Use& use : found->second->uses)
    if (!use.is_output && has_copy_at(use, device_address)) return {found->second, use.place};
  return {};
}

// A job in flight that has begun may have written its result already.
JobBook::Found JobBook::writer_of_copy(uint64_t device_address, queue::SequenceId except) {
  const std::lock_guard lock(mutex_);
  Found last;
  if (auto next = results_.upper_bound(device_address); next != results_.begin()) {
    const auto& [begin, result] = *std::prev(next);
    if (device_address - begin < result.place.bytes) last = result;
  }
  for (const auto& [id, job] : in_flight_) {
    if (id == except || !job->begun) continue;
    if (last.job != nullptr && job->age < last.job->age) continue;
    for (const Use& use : job->uses)
      if (use.is_output && has_copy_at(use, device_address)) last = {job, use.place};
  }
  return last;
}

std::vector<JobPointer> JobBook::never_asked() {
  const std::lock_guard lock(mutex_);
  std::vector<JobPointer> jobs;
  for (const ById* all : {&unasked_, &in_flight_})
    for (const auto& [id, job] : *all) {
      const WatchedJob& each = *job;
      if (is_asked(each) || each.traits.has_callback) continue;
      if (!each.traits.has_handle || each.detached) jobs.push_back(job);
    }
  std::ranges::sort(jobs, {}, [](const JobPointer& job) { return job->age; });
  return jobs;
}

}  // namespace millrace::check
