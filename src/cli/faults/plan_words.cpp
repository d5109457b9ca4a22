#include "cli/faults/plan_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <chrono>
#include <limits>
#include <string_view>
#include <utility>

#include "device/faulty/failure_names.h"

namespace millrace::cli {
namespace {

using device::FaultAction;
using device::FaultRule;
using device::FaultSettings;
using device::FaultSubject;
using device::Work;
using std::chrono::nanoseconds;

constexpr uint64_t kNoEnd = std::numeric_limits<uint64_t>::max();

// Returns the duration in the largest unit that divides it, as the text of a plan has it.
std::string text_of(nanoseconds time) {
  constexpr std::array<std::pair<int64_t, const char*>, 4> kUnits = {
      {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}, {1, "ns"}}};
  for (const auto& [ns, name] : kUnits)
    if (time.count() % ns == 0) return fmt::format("{} {}", time.count() / ns, name);
  return {};
}

// Returns a time that was drawn with few digits, so that it reads well.
nanoseconds rounded(nanoseconds time) {
  constexpr nanoseconds kMs(1'000'000), kUs(1'000);
  const nanoseconds step = time >= 10 * kMs ? 10 * kUs : time >= kMs ? kUs : nanoseconds(1);
  return time % kUs == nanoseconds::zero() ? time : (time + step / 2) / step * step;
}

std::string percentage(double probability) {
  return fmt::format("{:.6g} %", probability * 100);
}

const char* noun(Work work) {
  return work == Work::kJob ? "job" : "transfer";
}
const char* capital_noun(Work work) {
  return work == Work::kJob ? "Job" : "Transfer";
}
// Return the word for what a rule selects.
const char* noun(const FaultRule& rule, Work work) {
  if (rule.subject == FaultSubject::kAllocations) return "allocation";
  if (rule.subject == FaultSubject::kDescriptors) return "use";
  return rule.subject == FaultSubject::kCalls ? "call" : noun(work);
}
const char* capital_noun(const FaultRule& rule, Work work) {
  if (rule.subject == FaultSubject::kAllocations) return "Allocation";
  if (rule.subject == FaultSubject::kDescriptors) return "Use";
  return rule.subject == FaultSubject::kCalls ? "Call" : capital_noun(work);
}

// Says what the program sees of a failure, in each API.
std::string views_of(const Status& failure, Work work) {
  const device::FailureView view = device::view_of(failure);
  std::string seen;
  if (work == Work::kJob)
    seen = fmt::format(
        "A program of the native API or Python sees {}, one of VART {}, one of NRT {} ({}).",
        to_string(failure.code()), view.vart, view.nrt, view.nrt_number);
  else
    seen = fmt::format("A program of NRT sees {} ({}).", view.nrt, view.nrt_number);
  return seen + (view.degrades_unit
                     ? " The unit is degraded, and refuses further work until it is reset."
                     : " The unit goes on.");
}

std::string hang_words(nanoseconds time, bool single) {
  const char* verb = single ? "blocks" : "block";
  if (time == device::kHangForever) return fmt::format("{} for ever, even if asked to stop", verb);
  return fmt::format("{} for {}, even if asked to stop, and then {}", verb, text_of(time),
                     single ? "runs" : "run");
}

constexpr const char* kWatchdogAdvice =
    "A program waits for ever then, unless a watchdog gives such work up: MILLRACE_WATCHDOG=2s.";

// The subject of the sentence about a rule: "Job 7", "Jobs 5 to 9", "Jobs 3, 6, 9 and so on".
std::string jobs_of(const FaultRule& rule, Work work) {
  const std::string many = fmt::format("{}s", capital_noun(rule, work));
  if (rule.every > 1) {
    if (rule.every - 1 > rule.last - rule.first) return fmt::format("No {}s", noun(rule, work));
    const uint64_t first = rule.first + rule.every - 1;
    if (rule.every > rule.last - first)
      return fmt::format("Of the {}s only {}", noun(rule, work), first);
    const std::string end = rule.last == kNoEnd ? "" : fmt::format(", up to {} at most", rule.last);
    return fmt::format("{} {}, {} and so on{}", many, first, first + rule.every, end);
  }
  if (rule.first == rule.last) return fmt::format("{} {}", capital_noun(rule, work), rule.first);
  if (rule.last != kNoEnd) return fmt::format("{} {} to {}", many, rule.first, rule.last);
  return rule.first == 1 ? fmt::format("All {}s", noun(rule, work))
                         : fmt::format("{} from {} on", many, rule.first);
}

bool is_single(const FaultRule& rule) {
  return rule.every == 1 && rule.first == rule.last;
}

std::string conditions_of(const FaultRule& rule) {
  std::string conditions;
  if (!rule.unit.empty()) conditions += fmt::format(" of unit \"{}\"", rule.unit);
  if (!rule.model.empty())
    conditions += fmt::format("{} if of model \"{}\"", conditions.empty() ? "," : "", rule.model);
  return conditions + (rule.model.empty() ? "" : ",");
}

std::string what_happens(const FaultRule& rule, Work work) {
  const bool single = is_single(rule);
  switch (rule.action) {
    case FaultAction::kFail:
      if (rule.subject == FaultSubject::kAllocations)
        return single ? "of memory for tensors is refused" : "of memory for tensors are refused";
      if (rule.subject == FaultSubject::kDescriptors)
        return single ? "of a file descriptor fails" : "of file descriptors fail";
      if (rule.subject == FaultSubject::kCalls)
        return fmt::format("that submit{} a {} find{} the queue full", single ? "s" : "",
                           noun(work), single ? "s" : "");
      return single ? "fails instead of running" : "fail instead of running";
    case FaultAction::kHang:
      return hang_words(rule.time, single);
    case FaultAction::kSlow:
      if (rule.times)
        return fmt::format("{} longer, {} on average and {} in the 99th percentile",
                           single ? "takes" : "take", text_of(rule.mean), text_of(rule.p99));
      return fmt::format("{} {} longer", single ? "takes" : "take", text_of(rule.time));
    case FaultAction::kNan:
      return fmt::format("{}, and {} then filled with NaN", single ? "runs" : "run",
                         rule.output.empty() ? "all outputs of floating point are"
                                             : fmt::format("output \"{}\" is", rule.output));
  }
  return noun(work);
}

ExplainedPart explain_rule(const FaultRule& rule, Work work) {
  ExplainedPart part{rule.text, {}};
  const auto say = [&](std::string sentence) { part.sentences.push_back(std::move(sentence)); };
  const std::string chance = rule.probability < 1 ? fmt::format(",{} with a probability of {}",
                                                                is_single(rule) ? "" : " each",
                                                                percentage(rule.probability))
                                                  : "";
  say(fmt::format("{}{} {}{}.", jobs_of(rule, work), conditions_of(rule), what_happens(rule, work),
                  chance));
  if (rule.subject == FaultSubject::kAllocations)
    say("A program of the native API sees OUT_OF_MEMORY, one of VART an exception, one of NRT "
        "NRT_RESOURCE (4).");
  else if (rule.subject == FaultSubject::kDescriptors)
    say("These are imports and exports of memory, accesses to imported memory that is announced or "
        "checked, and event descriptors of requests. A program of the native API sees "
        "INVALID_ARGUMENT where it imports, otherwise IO_ERROR; one of VART an exception, -1 from "
        "export_buffer, or RUNTIME_ERROR of a job; one of NRT NRT_RESOURCE (4).");
  else if (rule.subject == FaultSubject::kCalls)
    say(work == Work::kJob
            ? "A program of the native API or Python sees QUEUE_FULL, one of VART "
              "RESOURCE_UNAVAILABLE, one of NRT NRT_QUEUE_FULL (7). Nothing has changed then, and "
              "the program may call again."
            : "A program of NRT sees NRT_QUEUE_FULL (7). Nothing has changed then, and it may call "
              "again.");
  else if (rule.action == FaultAction::kFail)
    say(views_of(rule.failure, work));
  if (rule.times)
    say("The times have a log-normal distribution, and each job its own in every run.");
  if (rule.action == FaultAction::kSlow) say("A request to stop ends the delay.");
  if (rule.action == FaultAction::kHang && rule.time == device::kHangForever) say(kWatchdogAdvice);
  if (rule.action == FaultAction::kNan)
    say("Nothing reports that, except to programs of NRT with NEURON_FAIL_ON_NAN=1: they see "
        "NRT_EXEC_COMPLETED_WITH_NUM_ERR (1003).");
  if (!rule.unit.empty())
    say(fmt::format("The {}s {} that unit are counted on their own.", noun(rule, work),
                    rule.subject == FaultSubject::kCalls ? "for" : "of"));
  return part;
}

// Explains what the settings say together, since `status`, say, is for all failures.
ExplainedPart explain_settings(const FaultSettings& settings, Work work) {
  ExplainedPart part{"settings", {}};
  const auto say = [&](std::string sentence) { part.sentences.push_back(std::move(sentence)); };
  const device::FaultRates& rates = settings.rates;
  const bool any_fails = settings.fail > 0 || settings.fail_every > 0 || rates.fail > 0;
  const auto drawn = [&](double rate, const std::string& what) {
    if (rate > 0)
      say(fmt::format("Each frame of a {} {} with a probability of {}.", noun(work), what,
                      percentage(rate)));
  };
  if (settings.fail > 0)
    say(fmt::format("{} {} fails instead of running.", capital_noun(work), settings.fail));
  if (settings.fail_every > 0)
    say(fmt::format("{}s {}, {} and so on fail instead of running.", capital_noun(work),
                    settings.fail_every, 2 * settings.fail_every));
  drawn(rates.fail, "fails");
  if (any_fails) say(views_of(rates.failure, work));
  if (settings.hang > 0)
    say(fmt::format("{} {} {}.", capital_noun(work), settings.hang,
                    hang_words(rates.hang_for, true)));
  if (settings.hang > 0 && rates.hang_for == device::kHangForever) say(kWatchdogAdvice);
  drawn(rates.hang, rates.hang_for == device::kHangForever
                        ? "blocks for ever"
                        : fmt::format("blocks for {}", text_of(rates.hang_for)));
  if (settings.slow > nanoseconds::zero())
    say(fmt::format("Every frame of a {} takes {} longer.", noun(work), text_of(settings.slow)));
  drawn(rates.slow, fmt::format("takes {} longer", text_of(rates.slow_for)));
  return part;
}

}  // namespace

std::vector<ExplainedPart> explain(const FaultSettings& settings, Work work) {
  std::vector<ExplainedPart> parts;
  ExplainedPart of_settings = explain_settings(settings, work);
  if (!of_settings.sentences.empty()) parts.push_back(std::move(of_settings));
  for (const FaultRule& rule : settings.rules) parts.push_back(explain_rule(rule, work));
  return parts;
}

std::optional<std::string> fate_of(const device::FrameFaults& faults) {
  std::vector<std::string> events;
  if (faults.delay > nanoseconds::zero())
    events.push_back(fmt::format("takes {} longer", text_of(rounded(faults.delay))));
  if (faults.hang_for == device::kHangForever)
    events.push_back("blocks for ever");
  else if (faults.hang_for > nanoseconds::zero())
    events.push_back(fmt::format("blocks for {}", text_of(faults.hang_for)));
  if (!faults.failure.ok()) {
    const device::FailureView view = device::view_of(faults.failure);
    events.push_back(fmt::format("fails with {} (VART {}, NRT {})",
                                 to_string(faults.failure.code()), view.vart, view.nrt));
  } else if (faults.spoilt.any()) {
    events.push_back("gives NaN");
  }
  if (events.empty()) return std::nullopt;
  return fmt::format("{}", fmt::join(events, ", "));
}

}  // namespace millrace::cli
