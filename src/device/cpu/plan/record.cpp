#include "device/cpu/plan/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/settings/environment.h"

namespace millrace::device::cpu::plan {
namespace {

constexpr std::string_view kFirstLine = "millrace-tuning 1";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// False where the line is none of a record.
bool add_line(std::string_view line, Record& record) {
  const std::vector<std::string_view> words = split(line, '\t');
  if (words[0] == "fingerprint" && words.size() == 2) {
    record.fingerprint = words[1];
    return true;
  }
  if (words[0] == "conv" && words.size() == 2)
    return record.convolutions.try_emplace(std::string(words[1])).second;
  const Result<uint64_t> nanoseconds = parse_number(words.back());
  // Sums of times must not overflow, whatever a file says.
  constexpr uint64_t kLongest = 1'000'000'000'000;
  if (!nanoseconds.ok() || *nanoseconds > kLongest) return false;
  if (words[0] == "move" && words.size() == 3)
    return record.moves.emplace(words[1], *nanoseconds).second;
  if (words[0] != "conv" || words.size() != 7) return false;
  const std::optional<Form> form = form_named(words[2]);
  if (!form) return false;
  const auto [entry, is_new] = record.convolutions.try_emplace(std::string(words[1]));
  std::vector<Candidate>& candidates = entry->second;
  if (!is_new && candidates.empty()) return false;  // an earlier line says that it has none
  // Each form once: what is chosen from must stay small, whatever a file says.
  if (std::ranges::find(candidates, *form, &Candidate::form) != candidates.end()) return false;
  candidates.push_back(
      {*form, std::string(words[3]), std::string(words[4]), std::string(words[5]), *nanoseconds});
  return true;
}

}  // namespace

std::string to_text(const Record& record) {
  std::string text = fmt::format("{}\nfingerprint\t{}\n", kFirstLine, record.fingerprint);
  for (const auto& [convolution, candidates] : record.convolutions) {
    if (candidates.empty()) text += fmt::format("conv\t{}\n", convolution);
    for (const Candidate& each : candidates)
      text += fmt::format("conv\t{}\t{}\t{}\t{}\t{}\t{}\n", convolution, name_of(each.form),
                          each.source, each.result, each.kernel, each.nanoseconds);
  }
  for (const auto& [move, nanoseconds] : record.moves)
    text += fmt::format("move\t{}\t{}\n", move, nanoseconds);
  return text;
}

Result<Record> parse_record(std::string_view text) {
  Record record;
  const std::vector<std::string_view> lines = split(text, '\n');
  if (lines[0] != kFirstLine) return corrupt_data("it is no record of times");
  for (size_t i = 1; i < lines.size(); ++i)
    if (!lines[i].empty() && !add_line(lines[i], record))
      return corrupt_data(fmt::format("line {} makes no sense", i + 1));
  return record;
}

}  // namespace millrace::device::cpu::plan
