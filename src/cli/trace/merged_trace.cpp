#include "cli/trace/merged_trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "cli/trace/trace_text.h"

namespace millrace::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

// The processes of the n-th program have numbers from 10 n on (page/model.js).
constexpr int kProcessesOfProgram = 10;
constexpr size_t kMostPrograms = 1024;

// The program of a trace, as the trace describes it.
struct Program {
  std::string path;
  std::vector<std::string> ranks = {};
  uint64_t process = 0;
  int64_t begin_unix_us = 0;
  uint64_t dropped = 0;

  std::string name() const {
    if (ranks.empty()) return fmt::format("process {}", process);
    return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
  }
};

Result<OrderedJson> read_trace(const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(const TraceText text, TraceText::read(path));
  OrderedJson trace = OrderedJson::parse(text.json(), nullptr, false);
  if (trace.is_discarded()) return invalid_argument(path + " is not a trace");
  return trace;
}

// Calls `read`, which may throw an exception of JSON, and says then what is wrong with the file.
template <class Read>
Status checked(const std::string& path, Read&& read) {
  try {
    read();
    return {};
  } catch (const OrderedJson::exception& error) {
    return invalid_argument(
        fmt::format("{} is not a trace that can be merged: {}", path, error.what()));
  }
}

Result<Program> program_of(const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(const OrderedJson trace, read_trace(path));
  Program program{.path = path};
  MILLRACE_RETURN_IF_ERROR(checked(path, [&] {
    const OrderedJson& data = trace.at("otherData");
    program.ranks = data.at("ranks").get<std::vector<std::string>>();
    program.process = data.at("process");
    program.begin_unix_us = data.at("begin_unix_us");
    program.dropped = data.at("dropped_events");
  }));
  return program;
}

// Ranks in the order of their numbers, and then other processes.
bool is_before(const Program& a, const Program& b) {
  const auto key = [](const Program& program) {
    const std::string rank = program.ranks.empty() ? "" : program.ranks.front();
    return std::tuple(rank.empty(), rank.size(), rank, program.process);
  };
  return key(a) < key(b);
}

// Gives two programs of the same rank, as of two runs, different names.
std::vector<std::string> names_of(const std::vector<Program>& programs) {
  std::vector<std::string> names;
  for (const Program& program : programs) {
    std::string name = program.name();
    if (std::ranges::count(names, name) != 0) name += fmt::format(" ({})", names.size());
    names.push_back(std::move(name));
  }
  return names;
}

class Merger {
 public:
  Merger(const std::vector<Program>& programs, std::vector<std::string> names)
      : programs_(programs), names_(std::move(names)) {
    const auto first = std::ranges::min_element(programs_, {}, &Program::begin_unix_us);
    begin_unix_us_ = first->begin_unix_us;
    text_ = R"({"displayTimeUnit":"ns","otherData":)";
    append(head());
    text_ += ",\"traceEvents\":[";
  }

  Status add(size_t index) {
    const std::string& path = programs_[index].path;
    MILLRACE_ASSIGN_OR_RETURN(OrderedJson trace, read_trace(path));
    return checked(path, [&] {
      for (OrderedJson& event : trace.at("traceEvents")) {
        change(event, index);
        text_ += std::exchange(first_, false) ? "\n" : ",\n";
        append(event);
      }
    });
  }

  std::string text() && { return std::move(text_) + "\n]}\n"; }

 private:
  void append(const OrderedJson& json) {
    text_ += json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  }

  OrderedJson head() const {
    uint64_t dropped = 0;
    std::vector<std::string> ranks;
    for (const Program& program : programs_) {
      dropped += program.dropped;
      ranks.insert(ranks.end(), program.ranks.begin(), program.ranks.end());
    }
    return {{"producer", "millrace"},
            {"dropped_events", dropped},
            {"programs", names_},
            {"ranks", ranks},
            {"begin_unix_us", begin_unix_us_}};
  }

  void change(OrderedJson& event, size_t index) const {
    const int pid = event.at("pid").get<int>() + kProcessesOfProgram * static_cast<int>(index);
    event["pid"] = pid;
    if (event.contains("ts"))
      event["ts"] = event["ts"].get<double>() +
                    static_cast<double>(programs_[index].begin_unix_us - begin_unix_us_);
    // Ids are unique within a program only, so they get its number.
    if (event.contains("id")) event["id"] = fmt::format("{}/{}", index, event["id"].dump());
    if (event.at("name") == "process_name")
      event.at("args")["name"] =
          fmt::format("{}: {}", names_[index], event["args"].at("name").get<std::string>());
    if (event.at("name") == "process_sort_index") event.at("args")["sort_index"] = pid;
    if (event.contains("args") && event["args"].contains("job"))
      event["args"]["job"] =
          fmt::format("{}/{}", names_[index], event["args"]["job"].get<std::string>());
  }

  const std::vector<Program>& programs_;
  const std::vector<std::string> names_;
  int64_t begin_unix_us_ = 0;
  std::string text_;
  bool first_ = true;
};

}  // namespace

Result<std::string> merged_trace(const std::vector<std::string>& paths) {
  if (paths.empty()) return invalid_argument("there is no trace to merge");
  if (paths.size() > kMostPrograms)
    return invalid_argument(fmt::format("{} traces are more than the {} that can be merged",
                                        paths.size(), kMostPrograms));
  std::vector<Program> programs;
  for (const std::string& path : paths) {
    MILLRACE_ASSIGN_OR_RETURN(Program program, program_of(path));
    programs.push_back(std::move(program));
  }
  std::ranges::stable_sort(programs, is_before);
  Merger merger(programs, names_of(programs));
  for (size_t i = 0; i < programs.size(); ++i) MILLRACE_RETURN_IF_ERROR(merger.add(i));
  return std::move(merger).text();
}

}  // namespace millrace::cli
