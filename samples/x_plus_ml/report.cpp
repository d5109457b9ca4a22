#include "report.hpp"

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "common/table.hpp"

namespace {

using samples::fixed;

constexpr const char* kNames[kStages] = {"read", "preprocess", "inference", "postprocess",
                                         "output"};

double per_second(const RunReport& report, double milliseconds) {
  return static_cast<double>(report.frames) * 1000 / milliseconds;
}

void add_cells(samples::TableRow& row, const RunReport& report, double milliseconds) {
  row.push_back(fixed(milliseconds / static_cast<double>(report.frames), 3));
  row.push_back(milliseconds > 0 ? fixed(per_second(report, milliseconds), 1) : "-");
}

void print_stages(const RunReport& report, const std::optional<AloneTimes>& alone) {
  std::vector<samples::TableRow> rows = {{"Stage", "Busy (ms/frame)", "FPS"}};
  if (alone) rows[0].insert(rows[0].end(), {"Alone (ms/frame)", "FPS"});
  const std::size_t stages = alone ? alone->size() : kStages;  // no output in a benchmark
  for (std::size_t stage = 0; stage < stages; ++stage) {
    rows.push_back({kNames[stage]});
    add_cells(rows.back(), report, report.busy_milliseconds[stage]);
    if (alone) add_cells(rows.back(), report, (*alone)[stage]);
  }
  samples::print_table(std::cout, "Performance", rows);
}

template <class Times>
void print_throughput(const RunReport& report, const Times& times, const std::string& condition) {
  const auto slowest = std::max_element(times.begin(), times.end());
  std::cout << "throughput: " << fixed(per_second(report, report.milliseconds), 1) << " FPS over "
            << report.frames << " frames, " << fixed(*slowest / report.milliseconds, 3) << " of "
            << kNames[slowest - times.begin()] << condition << ", the slowest stage\n";
}

}  // namespace

void print_performance(const RunReport& report, const std::optional<AloneTimes>& alone) {
  print_stages(report, alone);
  if (report.failed == report.frames) return;  // nothing came through
  if (alone)
    print_throughput(report, *alone, " alone");
  else
    print_throughput(report, report.busy_milliseconds, "");
}
