#include "check/reporter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "base/cancellation.h"
#include "base/float_environment.h"
#include "base/log.h"

namespace millrace::check {
namespace {

constexpr const char* kComponent = "check";

// Returns "3 findings", or "3 findings, which occurred 49 times".
std::string counted(uint64_t findings, uint64_t occurrences) {
  std::string text = fmt::format("{} finding{}", findings, findings == 1 ? "" : "s");
  if (occurrences != findings) text += fmt::format(", which occurred {} times", occurrences);
  return text;
}

}  // namespace

// A user who has set MILLRACE_CHECK wants to see what it finds, even if there is no log.
void Reporter::say(std::string_view line) const {
  if (log_is_chosen() || !shown_without_log_)
    log(LogLevel::kError, kComponent, line);
  else
    log_to_stderr(LogLevel::kError, kComponent, line);
}

Status Reporter::append_to(const std::string& path) {
  constexpr mode_t kMode = 0644;
  file_ =
      UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, kMode));
  if (file_.get() < 0)
    return {StatusCode::kIoError,
            fmt::format("cannot open {}: {}", path, std::generic_category().message(errno))};
  write_line(fmt::format("{{\"checker\":\"started\",\"process\":{}}}\n", ::getpid()));
  return {};
}

bool Reporter::count(const Finding& finding) {
  const uint64_t fingerprint = fingerprint_of(finding);
  const std::lock_guard lock(mutex_);
  Count& of_kind = counts_[static_cast<size_t>(finding.hazard)];
  ++of_kind.occurrences;
  if (const auto known = seen_.find(fingerprint); known != seen_.end()) {
    if (known->second != kNotKept) ++kept_[known->second].occurrences;
    return false;
  }
  // The first findings of each kind have a description, however many of others there are.
  if (seen_.size() >= kMostFindings && of_kind.findings >= kMostOfAKind) return false;
  const bool is_kept = of_kind.findings < kMostOfAKind;
  seen_[fingerprint] = is_kept ? kept_.size() : kNotKept;
  ++of_kind.findings;
  if (is_kept) kept_.push_back({finding, 1});
  return is_kept;
}

std::vector<Found> Reporter::findings() const {
  const std::lock_guard lock(mutex_);
  return kept_;
}

void Reporter::write(const Finding& finding) noexcept {
  const CancellationOff whole;
  const DefaultFloatEnvironment floats;
  try {
    const std::lock_guard lock(writing_);
    for (const std::string& line : text_of(finding)) say(line);
    if (file_.get() >= 0) write_line(json_of(finding));
  } catch (const std::exception&) {
    // Memory is exhausted; the program goes on.
  }
}

// Each line is written at once, so that those of several processes do not mix.
void Reporter::write_line(const std::string& line) {
  if (::write(file_.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    say("a finding could not be written to the file of MILLRACE_CHECK");
}

// Requirement for the following three functions: the mutex is held.
Reporter::Count Reporter::sum() const {
  Count sum;
  for (const Count& of_kind : counts_) {
    sum.findings += of_kind.findings;
    sum.occurrences += of_kind.occurrences;
  }
  return sum;
}

std::string Reporter::kinds() const {
  std::string kinds;
  for (size_t kind = 0; kind < kHazards; ++kind) {
    const auto& [findings, occurrences] = counts_[kind];
    if (occurrences == 0) continue;
    kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", findings,
                         name_of(static_cast<Hazard>(kind)));
    if (occurrences != findings) kinds += fmt::format(" ({} times)", occurrences);
  }
  return kinds;
}

std::string Reporter::ended_line(std::string_view not_looked_for) const {
  nlohmann::ordered_json json{{"checker", "ended"}, {"process", ::getpid()}};
  const Count all = sum();
  json["findings"] = all.findings;
  json["occurrences"] = all.occurrences;
  json["hazards"] = nlohmann::ordered_json::object();
  for (size_t kind = 0; kind < kHazards; ++kind) {
    const auto& [findings, occurrences] = counts_[kind];
    if (occurrences != 0)
      json["hazards"][std::string(name_of(static_cast<Hazard>(kind)))] = {
          {"findings", findings}, {"occurrences", occurrences}};
  }
  if (!not_looked_for.empty()) json["not_looked_for"] = {not_looked_for};
  return json.dump() + "\n";
}

void Reporter::summarise(std::string_view not_looked_for) noexcept {
  const CancellationOff whole;
  try {
    std::unique_lock lock(mutex_);
    const Count all = sum();
    const std::string by_kind = kinds();
    const size_t described = kept_.size();
    const std::string ended = ended_line(not_looked_for);
    lock.unlock();
    const std::lock_guard whole_lines(writing_);
    if (file_.get() >= 0) write_line(ended);
    if (all.occurrences == 0) return;
    const bool all_described = described == all.findings;
    say(fmt::format("{}: {}{}", counted(all.findings, all.occurrences), by_kind,
                    all_described ? "" : fmt::format("; {} described above", described)));
  } catch (const std::exception&) {
    // Memory is exhausted; the program ends anyway.
  }
}

}  // namespace millrace::check
