#include "cli/top/top_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/printable.h"
#include "cli/report/numbers.h"
#include "cli/top/characters.h"

namespace millrace::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kNobody =
    "no process shows its units: start programs with MILLRACE_TOP=1 (docs/top.md)";
constexpr const char* kNoUnits =
    "       no units: it has none yet, or has closed them, so no jobs run";

std::string heading_of(const ProcessRows& rows) {
  const live::ShownProcess& process = rows.process;
  const std::string buffers =
      process.buffer_bytes == 0 ? "no buffers" : size_text(process.buffer_bytes) + " in buffers";
  std::string text = fmt::format("{} {}: {} of memory, {}", process.pid, printable(process.name),
                                 size_text(process.resident_bytes), buffers);
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

struct Column {
  const char* head;
  size_t width;
  std::string (*text)(const UnitRow&);
  bool is_text = false;  // which begins at the left
  // Columns are left out in this order where the terminal is narrow; 0: never.
  int left_out = 0;
};

constexpr Column kColumns[] = {
    {"UNIT", 6, [](const UnitRow& row) { return std::to_string(row.unit.id); }},
    {"NAME", 20, [](const UnitRow& row) { return printable(row.unit.name); }, true},
    {"LANES", 5, [](const UnitRow& row) { return std::to_string(row.unit.lanes); }, false, 1},
    {"QUEUE", 11,
     [](const UnitRow& row) { return fmt::format("{}/{}", row.unit.in_flight, row.unit.depth); }},
    {"JOBS/S", 10, [](const UnitRow& row) { return rate_text(row.jobs_per_second); }},
    {"MEAN", 9, [](const UnitRow& row) { return time_or_dash(row.mean_ns); }, false, 2},
    {"P99", 9, [](const UnitRow& row) { return time_or_dash(row.p99_ns); }, false, 3},
    {"DONE", 9, [](const UnitRow& row) { return std::to_string(row.unit.completed()); }},
    {"FAILED", 7, [](const UnitRow& row) { return std::to_string(row.unit.failed); }},
    {"LATE", 7, [](const UnitRow& row) { return std::to_string(row.unit.late); }},
    {"CANCELLED", 9,
     [](const UnitRow& row) { return std::to_string(row.unit.cancelled + row.unit.dropped); }},
    {"REFUSED", 7, [](const UnitRow& row) { return std::to_string(row.unit.refused); }},
    {"", 0, [](const UnitRow& row) { return state_of(row.unit); }, true},
};
constexpr std::string_view kLastNeeded = "FAILED";
constexpr int kMostLeftOut = 3;

// Returns the width of the table up to the column that must be seen.
size_t needed_width(int left_out) {
  size_t width = 0;
  for (const Column& column : kColumns) {
    if (column.left_out == 0 || column.left_out > left_out)
      width += column.width + (width == 0 ? 0 : 1);
    if (column.head == kLastNeeded) break;
  }
  return width;
}

// Returns how many columns are left out on a terminal of this width.
int left_out_at(size_t width) {
  int left_out = 0;
  while (left_out < kMostLeftOut && needed_width(left_out) > width) ++left_out;
  return left_out;
}

// Returns a line with a text for each column that is shown.
template <class TextOf>
std::string line_with(int left_out, TextOf&& text_of) {
  std::string line;
  for (const Column& column : kColumns) {
    if (column.left_out != 0 && column.left_out <= left_out) continue;
    if (!line.empty()) line += ' ';
    const std::string text = text_of(column);
    line += column.is_text ? fmt::format("{:<{}}", text, column.width)
                           : fmt::format("{:>{}}", text, column.width);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

// A long name would push the numbers after it over the edge of the terminal.
std::string text_in(const Column& column, const UnitRow& row, bool has_edge) {
  std::string text = column.text(row);
  const bool may_be_long = column.is_text && column.width != 0;
  return has_edge && may_be_long ? shortened_to(text, column.width) : text;
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

std::vector<std::string> top_lines(const std::vector<ProcessRows>& rows, size_t width) {
  if (rows.empty()) return {kNobody};
  const int left_out = left_out_at(width);
  std::vector<std::string> lines;
  for (const ProcessRows& process : rows) {
    if (!lines.empty()) lines.emplace_back();
    lines.push_back(heading_of(process));
    if (process.units.empty() && process.process.other_units == 0) {
      lines.emplace_back(kNoUnits);
      continue;
    }
    lines.push_back(line_with(left_out, [](const Column& column) { return column.head; }));
    for (const UnitRow& row : process.units)
      lines.push_back(line_with(left_out, [&](const Column& column) {
        return text_in(column, row, width != kAnyWidth);
      }));
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
