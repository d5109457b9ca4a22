#include "check/finding.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>

#include "model/checksum.h"

namespace millrace::check {
namespace {

using Json = nlohmann::ordered_json;

struct Words {
  std::string_view name, remedy;
};

// In the order of Hazard.
constexpr std::array<Words, kHazards> kWords = {{
    {"shared_output",
     "give each job in flight an output of its own, or wait for the earlier job first"},
    {"unordered_use",
     "wait for the job that writes before the other one is submitted, or submit both to one unit "
     "whose order the API guarantees"},
    {"input_written", "write the next input to other memory, or wait for the job first"},
    {"early_access", "wait for the job before its memory is used"},
    {"freed_in_flight", "wait for the job before the memory of its tensors is freed"},
    {"missing_sync",
     "sync inputs towards the device before the job, and outputs towards the host after it"},
    {"waited_twice", "wait once for each job, and keep the status"},
    {"never_waited", "wait for each job, or give it a callback"},
    {"ignored_status", "wait for the job and look at its status"},
    {"slow_callback", "let the callback hand the work to a thread of the program"},
    {"busy_polling",
     "wait with a time limit, use an event file descriptor, or sleep between polls"},
}};

Json json_of_tensor(const TensorPlace& tensor) {
  return {{"role", tensor.role},
          {"name", tensor.name},
          {"index", tensor.index},
          {"frame", tensor.frame},
          {"address", fmt::format("{:#x}", tensor.address)},
          {"bytes", tensor.bytes}};
}

Json json_of_written(const Written& written) {
  return {{"after", name_of(written.after)},
          {"before", name_of(written.before)},
          {"first_byte", written.bytes.begin},
          {"end_byte", written.bytes.end}};
}

Json json_of_place(const Place& place) {
  Json json{{"what", place.what}, {"stack", Json::array()}, {"calls", Json::array()}};
  for (const Call& call : place.stack.named_calls()) {
    json["stack"].push_back(text_of(call));
    json["calls"].push_back({{"function", call.function},
                             {"path", call.path},
                             {"offset", fmt::format("{:#x}", call.offset)}});
  }
  return json;
}

}  // namespace

std::string_view name_of(Hazard hazard) noexcept {
  return kWords[static_cast<size_t>(hazard)].name;
}

std::string_view name_of(JobPoint point) noexcept {
  constexpr std::string_view kNames[] = {"submitted", "started", "completed"};
  return kNames[static_cast<size_t>(point)];
}

std::string_view remedy_of(Hazard hazard) noexcept {
  return kWords[static_cast<size_t>(hazard)].remedy;
}

uint64_t fingerprint_of(const Finding& finding) {
  std::vector<uintptr_t> numbers{static_cast<uintptr_t>(finding.hazard)};
  if (finding.tensor) {
    numbers.push_back(finding.tensor->index);
    numbers.push_back(std::hash<std::string>()(finding.tensor->role + finding.tensor->name));
  }
  for (const Place& place : finding.places)
    for (void* const call : place.stack.calls())
      numbers.push_back(reinterpret_cast<uintptr_t>(call));
  return model::checksum_of(std::as_bytes(std::span(numbers)));
}

std::vector<std::string> text_of(const Finding& finding) {
  std::vector<std::string> lines{fmt::format("{}: {}", name_of(finding.hazard), finding.message)};
  for (const Place& place : finding.places) {
    if (place.stack.empty()) continue;
    lines.push_back(fmt::format("  {}:", place.what));
    for (const Call& call : place.stack.named_calls()) lines.push_back("    " + text_of(call));
  }
  lines.push_back(fmt::format("  to fix it: {}", remedy_of(finding.hazard)));
  return lines;
}

std::string json_of(const Finding& finding) {
  Json json{{"hazard", name_of(finding.hazard)},
            {"message", finding.message},
            {"remedy", remedy_of(finding.hazard)},
            {"process", ::getpid()},
            {"thread", finding.thread},
            {"jobs", finding.jobs}};
  if (finding.tensor) json["tensor"] = json_of_tensor(*finding.tensor);
  if (finding.written) json["written"] = json_of_written(*finding.written);
  json["places"] = Json::array();
  for (const Place& place : finding.places) json["places"].push_back(json_of_place(place));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace millrace::check
