#include "cli/top/top_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "cli/report/numbers.h"

namespace millrace::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kNobody =
    "no process shows its units: start programs with MILLRACE_TOP=1 (docs/top.md)";

std::string heading_of(const ProcessRows& rows) {
  const live::ShownProcess& process = rows.process;
  std::string text =
      fmt::format("{} {}: {} of memory, {} in buffers", process.pid, printable(process.name),
                  size_text(process.resident_bytes), size_text(process.buffer_bytes));
  if (!process.has_answered) text += "; does not answer, these are earlier numbers";
  return text;
}

std::string time_or_dash(const std::optional<double>& ns) {
  return ns ? time_text(*ns) : "-";
}

std::string rate_text(const std::optional<double>& rate) {
  if (!rate) return "-";
  return *rate < 100 ? fmt::format("{:.1f}", *rate) : fmt::format("{:.0f}", *rate);
}

std::string state_of(const live::ShownUnit& unit) {
  if (unit.closed) return "closing";
  return unit.degraded ? "degraded" : "";
}

std::string line_of(const UnitRow& row) {
  const live::ShownUnit& unit = row.unit;
  std::string line = fmt::format(
      "{:>6} {:<20} {:>5} {:>11} {:>10} {:>9} {:>9} {:>9} {:>7} {:>7} {:>9} {:>7} {}", unit.id,
      printable(unit.name), unit.lanes, fmt::format("{}/{}", unit.in_flight, unit.depth),
      rate_text(row.jobs_per_second), time_or_dash(row.mean_ns), time_or_dash(row.p99_ns),
      unit.completed(), unit.failed, unit.late, unit.cancelled + unit.dropped, unit.refused,
      state_of(unit));
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string head_line() {
  return fmt::format("{:>6} {:<20} {:>5} {:>11} {:>10} {:>9} {:>9} {:>9} {:>7} {:>7} {:>9} {:>7}",
                     "UNIT", "NAME", "LANES", "QUEUE", "JOBS/S", "MEAN", "P99", "DONE", "FAILED",
                     "LATE", "CANCELLED", "REFUSED");
}

Json or_null(const std::optional<double>& number) {
  return number ? Json(*number) : Json(nullptr);
}

Json json_of(const UnitRow& row) {
  const live::ShownUnit& unit = row.unit;
  return {{"id", unit.id},
          {"name", unit.name},
          {"state", unit.closed     ? "closing"
                    : unit.degraded ? "degraded"
                                    : "healthy"},
          {"lanes", unit.lanes},
          {"depth", unit.depth},
          {"in_flight", unit.in_flight},
          {"jobs_per_second", or_null(row.jobs_per_second)},
          {"mean_run_ns", or_null(row.mean_ns)},
          {"p99_run_ns", or_null(row.p99_ns)},
          {"submitted", unit.submitted},
          {"refused", unit.refused},
          {"succeeded", unit.succeeded},
          {"failed", unit.failed},
          {"late", unit.late},
          {"cancelled", unit.cancelled},
          {"dropped", unit.dropped}};
}

Json json_of(const ProcessRows& rows) {
  Json units = Json::array();
  for (const UnitRow& row : rows.units) units.push_back(json_of(row));
  const live::ShownProcess& process = rows.process;
  return {{"pid", process.pid},
          {"program", process.name},
          {"answers", process.has_answered},
          {"resident_bytes", process.resident_bytes},
          {"buffer_bytes", process.buffer_bytes},
          {"other_units", process.other_units},
          {"units", std::move(units)}};
}

}  // namespace

std::vector<std::string> top_lines(const std::vector<ProcessRows>& rows) {
  if (rows.empty()) return {kNobody};
  std::vector<std::string> lines;
  for (const ProcessRows& process : rows) {
    if (!lines.empty()) lines.emplace_back();
    lines.push_back(heading_of(process));
    lines.push_back(head_line());
    for (const UnitRow& row : process.units) lines.push_back(line_of(row));
    if (process.process.other_units != 0)
      lines.push_back(fmt::format("       and {} more units", process.process.other_units));
  }
  return lines;
}

std::string top_json(const std::vector<ProcessRows>& rows) {
  Json processes = Json::array();
  for (const ProcessRows& process : rows) processes.push_back(json_of(process));
  // Bytes of a name that are not UTF-8 are replaced rather than refused.
  return Json{{"processes", std::move(processes)}}.dump(-1, ' ', false,
                                                        Json::error_handler_t::replace);
}

}  // namespace millrace::cli
