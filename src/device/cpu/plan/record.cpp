// Reading and writing of records. A record comes from a file that anybody may have written, so the
// reader refuses lines that it does not know, times so large that sums of them could overflow, and
// more than one candidate of a form.
#include "device/cpu/plan/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/settings/environment.h"

namespace millrace::device::cpu::plan {
namespace {

constexpr std::string_view kFirstLine = "millrace-tuning 2";
constexpr std::string_view kFirstLineOfOneLane = "millrace-tuning 1";
// The fingerprint of such a record ended with it.
constexpr std::string_view kOneLane = ", 1 thread";
// Lanes are numbered in 16 bits (queue/lanes/team.h).
constexpr uint64_t kMostLanes = 0xffff;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// Adds lines to a record. Each function returns false if the line cannot be one of a record.
class Reader {
 public:
  Reader(Record& record, bool has_lanes) : record_(record) {
    if (!has_lanes) times_ = &record.lanes[1];
  }

  bool add(std::string_view line) {
    const std::vector<std::string_view> words = split(line, '\t');
    if (words[0] == "fingerprint" && words.size() == 2) {
      record_.fingerprint = words[1];
      return true;
    }
    if (words[0] == "lanes" && words.size() == 2) return begin_lanes(words[1]);
    if (times_ == nullptr) return false;
    if (words[0] == "conv" && words.size() == 2)
      return times_->convolutions.try_emplace(std::string(words[1])).second;
    const Result<uint64_t> nanoseconds = parse_number(words.back());
    // Sums of times must not overflow, whatever a file says.
    constexpr uint64_t kLongest = 1'000'000'000'000;
    if (!nanoseconds.ok() || *nanoseconds > kLongest) return false;
    if (words[0] == "move" && words.size() == 3)
      return times_->moves.emplace(words[1], *nanoseconds).second;
    return words[0] == "conv" && words.size() == 7 && add_candidate(words, *nanoseconds);
  }

 private:
  bool begin_lanes(std::string_view word) {
    const Result<uint64_t> number = parse_number(word);
    if (!number.ok() || *number == 0 || *number > kMostLanes) return false;
    const auto [entry, is_new] = record_.lanes.try_emplace(static_cast<uint32_t>(*number));
    times_ = &entry->second;
    return is_new;
  }

  bool add_candidate(const std::vector<std::string_view>& words, uint64_t nanoseconds) {
    const std::optional<Form> form = form_named(words[2]);
    if (!form || (*form == Form::kSeparable) != is_of_pair(words[1])) return false;
    const auto [entry, is_new] = times_->convolutions.try_emplace(std::string(words[1]));
    std::vector<Candidate>& candidates = entry->second;
    if (!is_new && candidates.empty()) return false;  // an earlier line says that it has none
    // Each form once: what is chosen from must stay small, whatever a file says.
    if (std::ranges::find(candidates, *form, &Candidate::form) != candidates.end()) return false;
    candidates.push_back(
        {*form, std::string(words[3]), std::string(words[4]), std::string(words[5]), nanoseconds});
    return true;
  }

  Record& record_;
  LaneTimes* times_ = nullptr;  // that lines are added to
};

void append(const LaneTimes& times, std::string& text) {
  for (const auto& [convolution, candidates] : times.convolutions) {
    if (candidates.empty()) text += fmt::format("conv\t{}\n", convolution);
    for (const Candidate& each : candidates)
      text += fmt::format("conv\t{}\t{}\t{}\t{}\t{}\t{}\n", convolution, name_of(each.form),
                          each.source, each.result, each.kernel, each.nanoseconds);
  }
  for (const auto& [move, nanoseconds] : times.moves)
    text += fmt::format("move\t{}\t{}\n", move, nanoseconds);
}

}  // namespace

bool is_of_pair(std::string_view key) noexcept {
  return key.find(kBetweenPair) != std::string_view::npos;
}

std::string to_text(const Record& record) {
  std::string text = fmt::format("{}\nfingerprint\t{}\n", kFirstLine, record.fingerprint);
  for (const auto& [lanes, times] : record.lanes) {
    text += fmt::format("lanes\t{}\n", lanes);
    append(times, text);
  }
  return text;
}

Result<Record> parse_record(std::string_view text) {
  Record record;
  const std::vector<std::string_view> lines = split(text, '\n');
  const bool is_of_one_lane = lines[0] == kFirstLineOfOneLane;
  if (lines[0] != kFirstLine && !is_of_one_lane) return corrupt_data("it is no record of times");
  Reader reader(record, !is_of_one_lane);
  for (size_t i = 1; i < lines.size(); ++i)
    if (!lines[i].empty() && !reader.add(lines[i]))
      return corrupt_data(fmt::format("line {} makes no sense", i + 1));
  if (is_of_one_lane && record.fingerprint.ends_with(kOneLane))
    record.fingerprint.resize(record.fingerprint.size() - kOneLane.size());
  return record;
}

}  // namespace millrace::device::cpu::plan
