#include "cli/simulate/load_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/bench/plot_panel.h"
#include "cli/bench/report_parts.h"

namespace millrace::cli {
namespace {

using Points = std::vector<std::pair<double, double>>;

bool is_open(const SimulatedLine& line) {
  return line.load.per_second > 0;
}

// The runs in the order in which they are drawn, each at a share of the width.
std::vector<std::pair<double, const SimulatedLine*>> placed(const SimulationReport& report) {
  std::vector<std::pair<double, const SimulatedLine*>> lines;
  const bool by_rate = std::ranges::all_of(report.lines, is_open);
  double highest = 0;
  for (const SimulatedLine& line : report.lines) highest = std::max(highest, line.load.per_second);
  for (size_t i = 0; i < report.lines.size(); ++i) {
    const SimulatedLine& line = report.lines[i];
    const double share =
        by_rate ? line.load.per_second / highest
                : static_cast<double>(i + 1) / static_cast<double>(report.lines.size());
    lines.emplace_back(share, &line);
  }
  std::ranges::sort(lines, {}, [](const auto& line) { return line.first; });
  return lines;
}

std::string labels(const SimulationReport& report, const PlotPanel& panel) {
  std::string drawn;
  for (const auto& [share, line] : placed(report))
    drawn += grid_line(plot_x(share), panel.top, plot_x(share), panel.bottom()) +
             plot_text(plot_x(share), panel.bottom() + 16, "middle", load_text(line->load));
  return drawn;
}

template <class Value>
Points points_of(const SimulationReport& report, Value value) {
  Points points;
  for (const auto& [share, line] : placed(report))
    if (line->latency_ms) points.emplace_back(share, value(*line));
  return points;
}

std::string curve(const PlotPanel& panel, const Points& points, const char* css_class) {
  return plot_curve(panel, points, css_class) + plot_points(panel, points, css_class);
}

std::string latency_panel(const SimulationReport& report) {
  const Points medians =
      points_of(report, [](const SimulatedLine& line) { return line.latency_ms->median; });
  const Points p99s =
      points_of(report, [](const SimulatedLine& line) { return line.latency_ms->p99; });
  double highest = 1e-6;
  for (const auto& [share, value] : p99s) highest = std::max(highest, value);
  const PlotPanel panel{top_of_panel(0), highest, "ms"};
  return panel_frame(panel, "latency: median (blue) and 99th percentile (orange)") +
         labels(report, panel) + curve(panel, medians, "curve") + curve(panel, p99s, "second");
}

std::string utilisation_panel(const SimulationReport& report) {
  const PlotPanel panel{top_of_panel(1), 100, "%"};
  const Points busy =
      points_of(report, [](const SimulatedLine& line) { return line.utilisation * 100; });
  return panel_frame(panel, "lanes busy") + labels(report, panel) + curve(panel, busy, "curve");
}

}  // namespace

std::string load_plot(const SimulationReport& report) {
  const std::string title =
      fmt::format("{}{}: {} lanes, {} units of depth {}", report.model,
                  report.device.empty() ? "" : " on " + report.device, report.system.lanes,
                  report.system.units, report.system.depth);
  return plot_file(title, 2, latency_panel(report) + utilisation_panel(report));
}

}  // namespace millrace::cli
