#include "cli/check/findings_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace millrace::cli {
namespace {

using Json = nlohmann::ordered_json;
using Counts = std::map<std::string, FindingCount>;

// Returns a member of an object; null if there is none.
Json member(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? Json() : *found;
}

std::string text_member(const Json& object, const char* name) {
  const Json value = member(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

uint64_t number_member(const Json& object, const char* name) {
  const Json value = member(object, name);
  return value.is_number_unsigned() ? value.get<uint64_t>() : 0;
}

Counts counts_of(const Json& hazards) {
  Counts counts;
  if (!hazards.is_object()) return counts;
  for (const auto& [hazard, count] : hazards.items())
    counts[hazard] = {number_member(count, "findings"), number_member(count, "occurrences")};
  return counts;
}

template <class Visit>
void for_each_line(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

CodePlace place_of(const Json& call) {
  return {text_member(call, "path"), text_member(call, "offset")};
}

// Goes through the lines in their order.
class Reader {
 public:
  void add(const Json& line) {
    const uint64_t process = number_member(line, "process");
    const std::string checker = text_member(line, "checker");
    if (checker == "started") {
      add_counts(std::exchange(described_[process], {}));  // of a program before an exec()
      ++summary_.processes;
    } else if (checker == "ended") {
      described_[process] = counts_of(member(line, "hazards"));
      ++summary_.ended;
      for (const Json& kind : member(line, "not_looked_for"))
        if (kind.is_string()) summary_.not_looked_for.insert(kind.get<std::string>());
    } else if (const std::string hazard = text_member(line, "hazard"); !hazard.empty()) {
      FindingCount& count = described_[process][hazard];
      ++count.findings;
      ++count.occurrences;
      for (const Json& place : member(line, "places"))
        for (const Json& call : member(place, "calls")) summary_.calls.insert(place_of(call));
    }
  }

  FindingsSummary summary() && {
    for (const auto& [process, counts] : described_) add_counts(counts);
    return std::move(summary_);
  }

 private:
  void add_counts(const Counts& counts) {
    for (const auto& [hazard, count] : counts) {
      summary_.hazards[hazard].findings += count.findings;
      summary_.hazards[hazard].occurrences += count.occurrences;
    }
  }

  FindingsSummary summary_;
  std::map<uint64_t, Counts> described_;  // by process, those of its present program
};

void add_sources(Json& place, const SourceLines& sources) {
  const auto calls = place.find("calls"), stack = place.find("stack");
  if (calls == place.end() || stack == place.end() || !stack->is_array()) return;
  for (size_t i = 0; i < calls->size() && i < stack->size(); ++i) {
    Json& call = (*calls)[i];
    Json& line = (*stack)[i];
    const auto source = sources.find(place_of(call));
    if (source == sources.end() || !line.is_string()) continue;
    call["source"] = source->second;
    line = line.get<std::string>() + " at " + source->second;
  }
}

}  // namespace

FindingCount FindingsSummary::all() const noexcept {
  FindingCount sum;
  for (const auto& [hazard, count] : hazards) {
    sum.findings += count.findings;
    sum.occurrences += count.occurrences;
  }
  return sum;
}

FindingsSummary summary_of_findings(std::string_view text) {
  Reader reader;
  for_each_line(text, [&](std::string_view line) {
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_object()) reader.add(json);
  });
  return std::move(reader).summary();
}

std::string summary_text(const FindingsSummary& summary) {
  if (summary.processes == 0)
    return "the program was not checked: it has opened no device of Millrace";
  const auto [findings, occurrences] = summary.all();
  if (findings == 0) return "no hazard was found";
  std::string text = fmt::format("{} finding{}", findings, findings == 1 ? "" : "s");
  if (occurrences != findings) text += fmt::format(", which occurred {} times", occurrences);
  const char* before = ": ";
  for (const auto& [hazard, count] : summary.hazards) {
    text += fmt::format("{}{} {}", std::exchange(before, ", "), count.findings, hazard);
    if (count.occurrences != count.findings) text += fmt::format(" ({} times)", count.occurrences);
  }
  return text;
}

std::string with_sources(std::string_view text, const SourceLines& sources) {
  std::string lines;
  for_each_line(text, [&](std::string_view line) {
    Json json = Json::parse(line, nullptr, false);
    const auto places = json.is_object() ? json.find("places") : json.end();
    if (places == json.end()) {
      lines += line;
    } else {
      for (Json& place : *places)
        if (place.is_object()) add_sources(place, sources);
      lines += json.dump(-1, ' ', false, Json::error_handler_t::replace);
    }
    lines += '\n';
  });
  return lines;
}

}  // namespace millrace::cli
