// Parses the text form of a fault plan: parts that semicolons separate, each a list of KEY=VALUE
// settings, or a rule, ACTION:KEY=VALUE,... Settings are the older form; a colon marks a rule.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <span>
#include <string>

#include "base/settings/duration.h"
#include "device/faulty/failure_names.h"
#include "device/faulty/fault_plan.h"

namespace millrace::device {
namespace {

// The reason why a value is invalid, for example "is not a number"; empty if it is valid.
using Complaint = std::string;

// Parses the whole of `text` as a number.
template <class T>
bool read_number(std::string_view text, T& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

Complaint read_count(std::string_view text, uint64_t& count) {
  if (read_number(text, count) && count > 0) return {};
  return "is not a whole number of at least 1";
}

Complaint read_seed(std::string_view text, uint64_t& seed) {
  return read_number(text, seed) ? Complaint() : "is not a seed: a whole number, at least 0";
}

Complaint read_rate(std::string_view text, double& rate) {
  const bool is_percentage = text.ends_with('%');
  const std::string_view number = is_percentage ? text.substr(0, text.size() - 1) : text;
  double read = 0;
  if (read_number(number, read) && read >= 0 && read <= (is_percentage ? 100 : 1)) {
    rate = is_percentage ? read / 100 : read;
    return {};
  }
  return "is not a probability: a number from 0 to 1, or a percentage such as 0.5%";
}

// Parses "7", "5-9" or "100-".
Complaint read_jobs(std::string_view text, FaultRule& rule) {
  const size_t dash = text.find('-');
  const std::string_view end =
      dash == std::string_view::npos ? text.substr(0, dash) : text.substr(dash + 1);
  uint64_t first = 0, last = FaultRule().last;
  const bool valid = read_count(text.substr(0, dash), first).empty() &&
                     (end.empty() || read_count(end, last).empty()) && first <= last;
  if (!valid) return "is not a range of jobs: 7, 5-9 or 100-, counted from 1";
  rule.first = first;
  rule.last = last;
  return {};
}

Complaint read_allocations(std::string_view text, FaultRule& rule) {
  rule.subject = FaultSubject::kAllocations;
  const Complaint complaint = read_jobs(text, rule);
  return complaint.empty() ? complaint : "is not a range of allocations: 7, 5-9 or 100-";
}

Complaint read_after(std::string_view text, FaultRule& rule) {
  uint64_t jobs = 0;
  if (Complaint complaint = read_count(text, jobs); !complaint.empty()) return complaint;
  if (jobs == rule.last) return "is too large";
  rule.first = jobs + 1;
  return {};
}

Complaint read_name(std::string_view text, std::string& name) {
  if (text.empty()) return "is no name";
  name = text;
  return {};
}

std::string_view trimmed(std::string_view text) {
  constexpr const char* kBlanks = " \t\n\r";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

// Calls `read` for each of the parts of `text` that `separator` separates; an empty text has none.
template <class Read>
Status for_each_part(std::string_view text, char separator, Read&& read) {
  while (!text.empty()) {
    const size_t end = text.find(separator);
    MILLRACE_RETURN_IF_ERROR(read(trimmed(text.substr(0, end))));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return {};
}

template <class List>
std::string names_in(const List& list) {
  std::string names;
  for (const auto& entry : list)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", entry.name);
  return names;
}

// A key of settings or of a rule, and the function that reads its value into `To`.
template <class To>
struct Key {
  std::string_view name;
  Complaint (*read)(std::string_view value, To& to);
};
using SettingKey = Key<FaultSettings>;
using RuleKey = Key<FaultRule>;

constexpr std::array<SettingKey, 11> kSettingKeys = {{
    {"fail", [](auto text, auto& to) { return read_count(text, to.fail); }},
    {"fail_every", [](auto text, auto& to) { return read_count(text, to.fail_every); }},
    {"status", [](auto text, auto& to) { return read_failure(text, to.rates.failure); }},
    {"hang", [](auto text, auto& to) { return read_count(text, to.hang); }},
    {"hang_for", [](auto text, auto& to) { return read_duration(text, to.rates.hang_for); }},
    {"slow", [](auto text, auto& to) { return read_duration(text, to.slow); }},
    {"slow_for", [](auto text, auto& to) { return read_duration(text, to.rates.slow_for); }},
    {"seed", [](auto text, auto& to) { return read_seed(text, to.seed); }},
    {"fail_rate", [](auto text, auto& to) { return read_rate(text, to.rates.fail); }},
    {"hang_rate", [](auto text, auto& to) { return read_rate(text, to.rates.hang); }},
    {"slow_rate", [](auto text, auto& to) { return read_rate(text, to.rates.slow); }},
}};

// The keys that select jobs, which every rule takes, and those of single actions.
constexpr std::array<RuleKey, 6> kSelectionKeys = {{
    {"jobs", [](auto text, auto& to) { return read_jobs(text, to); }},
    {"after", [](auto text, auto& to) { return read_after(text, to); }},
    {"every", [](auto text, auto& to) { return read_count(text, to.every); }},
    {"p", [](auto text, auto& to) { return read_rate(text, to.probability); }},
    {"model", [](auto text, auto& to) { return read_name(text, to.model); }},
    {"unit", [](auto text, auto& to) { return read_name(text, to.unit); }},
}};
constexpr RuleKey kStatusKey{"status",
                             [](auto text, auto& to) { return read_failure(text, to.failure); }};
constexpr RuleKey kTimeKey{"for", [](auto text, auto& to) { return read_duration(text, to.time); }};
constexpr RuleKey kMeanKey{"mean",
                           [](auto text, auto& to) { return read_duration(text, to.mean); }};
constexpr RuleKey kP99Key{"p99", [](auto text, auto& to) { return read_duration(text, to.p99); }};
constexpr RuleKey kAllocationsKey{"allocs",
                                  [](auto text, auto& to) { return read_allocations(text, to); }};
constexpr RuleKey kOutputKey{"output",
                             [](auto text, auto& to) { return read_name(text, to.output); }};

constexpr std::array<RuleKey, 0> kNoKeys = {};
constexpr std::array<RuleKey, 1> kStatusKeys = {kStatusKey}, kTimeKeys = {kTimeKey},
                                 kAllocationsKeys = {kAllocationsKey}, kOutputKeys = {kOutputKey};
constexpr std::array<RuleKey, 3> kSlowKeys = {kTimeKey, kMeanKey, kP99Key};

// An action as the text names it, with what it means unless its own keys say otherwise.
struct Action {
  std::string_view name;
  FaultAction action;
  std::span<const RuleKey> keys;  // its own
  StatusCode code = StatusCode::kOk;
  std::chrono::nanoseconds time{0};
  FaultSubject subject = FaultSubject::kJobs;
};
constexpr std::array<Action, 8> kActions = {{
    {"fail", FaultAction::kFail, kStatusKeys, StatusCode::kDeviceFailed},
    {"degrade", FaultAction::kFail, kNoKeys, StatusCode::kDeviceFailed},
    {"oom", FaultAction::kFail, kAllocationsKeys, StatusCode::kOutOfMemory},
    {"hang", FaultAction::kHang, kTimeKeys, StatusCode::kOk, kHangForever},
    {"slow", FaultAction::kSlow, kSlowKeys},
    {"nan", FaultAction::kNan, kOutputKeys},
    {"full", FaultAction::kFail, kNoKeys, StatusCode::kQueueFull, {}, FaultSubject::kCalls},
    {"fdloss", FaultAction::kFail, kNoKeys, StatusCode::kIoError, {}, FaultSubject::kDescriptors},
}};

constexpr const char* kShortRules =
    "full@queue:1%, full@UNIT:1%, slow@p99:20ms, slow@p99:2ms,9ms, nan@OUTPUT or oom@alloc:3";

// Splits "KEY=VALUE" and reads the value; each key is read once.
template <class To, class Find>
Status read_pair(std::string_view pair, std::set<std::string_view>& seen, To& to, Find&& find) {
  const size_t equals = pair.find('=');
  const std::string_view name = pair.substr(0, equals);
  if (equals == std::string_view::npos)
    return invalid_argument(fmt::format("\"{}\" is not a setting: expected KEY=VALUE", pair));
  const Result<const Key<To>*> key = find(name);
  if (!key.ok()) return key.status();
  if (!seen.insert(name).second) return invalid_argument(fmt::format("\"{}\" is set twice", name));
  const std::string_view value = pair.substr(equals + 1);
  const Complaint complaint = (*key)->read(value, to);
  if (complaint.empty()) return {};
  return invalid_argument(fmt::format("{}: \"{}\" {}", name, value, complaint));
}

Result<const SettingKey*> setting_key(std::string_view name) {
  const auto* const key = std::ranges::find(kSettingKeys, name, &SettingKey::name);
  if (key != kSettingKeys.end()) return key;
  const bool is_of_rules = std::ranges::count(kSelectionKeys, name, &RuleKey::name) != 0;
  return invalid_argument(fmt::format(
      "there is no key \"{}\"; the keys are {}{}", name, names_in(kSettingKeys),
      is_of_rules ? fmt::format(" ({} is of rules, such as fail:{}=...)", name, name) : ""));
}

Result<const RuleKey*> rule_key(const Action& action, std::string_view name) {
  const auto* const key = std::ranges::find(kSelectionKeys, name, &RuleKey::name);
  if (key != kSelectionKeys.end()) return key;
  const auto own = std::ranges::find(action.keys, name, &RuleKey::name);
  if (own != action.keys.end()) return &*own;
  return invalid_argument(fmt::format("there is no key \"{}\"; its keys are {}{}{}", name,
                                      names_in(kSelectionKeys), action.keys.empty() ? "" : ", ",
                                      names_in(action.keys)));
}

// Checks that a rule says in one way how much longer jobs take.
Status check_times(const std::set<std::string_view>& seen) {
  const auto wrong = [](const char* why) { return invalid_argument(std::string("slow: ") + why); };
  const bool mean = seen.contains("mean"), p99 = seen.contains("p99");
  if (seen.contains("for"))
    return mean || p99 ? wrong("for is the time of every job; state it, or mean and p99")
                       : Status();
  if (mean && !p99) return wrong("mean needs p99, the 99th percentile");
  if (p99 && !mean && seen.contains("p"))
    return wrong("p99 alone selects one job in a hundred; state p with for=");
  return p99 ? Status() : wrong("it does not say how much longer; state for=2ms, say");
}

// Makes the distribution of a rule of kSlow. With p99 alone, one job in a hundred takes that long.
Status make_times(FaultRule& rule) {
  if (rule.p99.count() == 0) return {};
  if (rule.mean.count() == 0) {
    rule.probability = 0.01;
    rule.time = rule.p99;
    return {};
  }
  const Result<ServiceTimes> times = ServiceTimes::from_mean_and_p99(rule.mean, rule.p99);
  if (!times.ok()) return times.status().with_context("slow");
  rule.times = *times;
  return {};
}

// Checks what no key can check on its own.
Status check_rule(const Action& action, const std::set<std::string_view>& seen, Work work) {
  const auto wrong = [&](std::string_view why) {
    return invalid_argument(fmt::format("{}: {}", action.name, why));
  };
  if (seen.contains("jobs") && seen.contains("after"))
    return wrong("jobs and after both say where it begins; state one of them");
  for (const char* of_jobs : {"jobs", "after", "model", "unit"})
    if (seen.contains("allocs") && seen.contains(of_jobs))
      return wrong(fmt::format("allocs selects allocations, and {} selects jobs", of_jobs));
  if (action.subject == FaultSubject::kCalls && seen.contains("model"))
    return wrong("it is about calls, and model selects jobs");
  for (const char* of_jobs : {"model", "unit"})
    if (action.subject == FaultSubject::kDescriptors && seen.contains(of_jobs))
      return wrong(fmt::format("it is about file descriptors, and {} selects jobs", of_jobs));
  if (work == Work::kTransfer && action.subject == FaultSubject::kDescriptors)
    return wrong("it is for MILLRACE_FAULTS");
  if (work == Work::kTransfer && seen.contains("allocs"))
    return wrong("allocs is for MILLRACE_FAULTS");
  if (action.action == FaultAction::kSlow) MILLRACE_RETURN_IF_ERROR(check_times(seen));
  if (work == Work::kTransfer && action.action == FaultAction::kNan)
    return wrong("transfers have no outputs");
  if (work == Work::kTransfer && seen.contains("model")) return wrong("transfers have no model");
  return {};
}

// A rule may be short: ACTION@PLACE:VALUE,... with the place of the fault, and values without keys.
bool is_short(std::string_view part) {
  const size_t mark = part.find_first_of("@:=");
  return mark != std::string_view::npos && part[mark] == '@';
}

// Returns the rule that a short one stands for, and the text itself if it is none.
Result<std::string> long_form(std::string_view part) {
  if (!is_short(part)) return std::string(part);
  const size_t at = part.find('@');
  const std::string_view action = trimmed(part.substr(0, at)), rest = trimmed(part.substr(at + 1));
  // The names of outputs may have colons in them.
  if (action == "nan") return fmt::format("nan:output={}", rest);
  const size_t colon = rest.rfind(':');
  const std::string_view place = trimmed(rest.substr(0, colon));
  const std::string_view value =
      colon == std::string_view::npos ? std::string_view() : trimmed(rest.substr(colon + 1));
  const size_t comma = value.find(',');
  if (value.empty() || place.empty() || value.find('=') != std::string_view::npos)
    return invalid_argument(fmt::format("\"{}\" is no short rule: expected {}", part, kShortRules));
  if (action == "full")
    return place == "queue" ? fmt::format("full:p={}", value)
                            : fmt::format("full:unit={},p={}", place, value);
  if (action == "oom" && place == "alloc") return fmt::format("oom:allocs={}", value);
  if (action == "slow" && place == "p99")
    return comma == std::string_view::npos
               ? fmt::format("slow:p99={}", value)
               : fmt::format("slow:mean={},p99={}", value.substr(0, comma),
                             value.substr(comma + 1));
  return invalid_argument(fmt::format("\"{}\" is no short rule: expected {}", part, kShortRules));
}

Result<FaultRule> read_rule(std::string_view stated, Work work) {
  MILLRACE_ASSIGN_OR_RETURN(const std::string whole, long_form(stated));
  const std::string_view text = whole;
  const size_t colon = text.find(':');
  const std::string_view name = trimmed(text.substr(0, colon));
  const auto* const action = std::ranges::find(kActions, name, &Action::name);
  if (action == kActions.end())
    return invalid_argument(
        fmt::format("there is no action \"{}\"; the actions are {}", name, names_in(kActions)));
  FaultRule rule{.action = action->action, .time = action->time, .text = std::string(stated)};
  if (action->code != StatusCode::kOk)
    rule.failure = Status(action->code, injected_failure().message());
  rule.subject = action->subject;
  std::set<std::string_view> seen;
  const auto find = [&](std::string_view key) { return rule_key(*action, key); };
  MILLRACE_RETURN_IF_ERROR(for_each_part(text.substr(colon + 1), ',', [&](std::string_view pair) {
    return read_pair(pair, seen, rule, find).with_context(name);
  }));
  MILLRACE_RETURN_IF_ERROR(check_rule(*action, seen, work));
  MILLRACE_RETURN_IF_ERROR(make_times(rule));
  return rule;
}

// A rule has a colon before its first value; names in values may have colons as well.
bool is_rule(std::string_view part) {
  return is_short(part) || part.substr(0, part.find('=')).find(':') != std::string_view::npos;
}

Status refuse_bare_action(std::string_view part) {
  const bool is_bare = std::ranges::count(kActions, part, &Action::name) != 0;
  if (!is_bare) return {};
  return invalid_argument(fmt::format(
      "\"{}\" is not a setting: expected KEY=VALUE, or a rule such as {}:jobs=3", part, part));
}

}  // namespace

Result<FaultSettings> FaultPlan::parse(std::string_view text, Work work) {
  FaultSettings settings;
  std::set<std::string_view> seen;
  const Status read = for_each_part(text, ';', [&](std::string_view part) -> Status {
    if (part.empty()) return {};
    if (!is_rule(part)) {
      MILLRACE_RETURN_IF_ERROR(refuse_bare_action(part));
      return for_each_part(part, ',', [&](std::string_view pair) {
        return read_pair(pair, seen, settings, setting_key);
      });
    }
    MILLRACE_ASSIGN_OR_RETURN(FaultRule rule, read_rule(part, work));
    settings.rules.push_back(std::move(rule));
    return {};
  });
  if (!read.ok()) return read;
  if (settings.rules.size() > kMostFaultRules)
    return invalid_argument(
        fmt::format("a plan has at most {} rules, not {}", kMostFaultRules, settings.rules.size()));
  return settings;
}

}  // namespace millrace::device
