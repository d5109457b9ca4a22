#include "cli/bench/latency_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "cli/bench/percentiles.h"
#include "cli/bench/plot_panel.h"

namespace millrace::cli {
namespace {

// Maps a percentile to a share of the width: 0 %, 90 %, 99 % and so on are equally spaced. There
// are as many nines as the number of queries can resolve.
class PercentileAxis {
 public:
  explicit PercentileAxis(size_t queries)
      : nines_(std::max(1.0, std::ceil(std::log10(static_cast<double>(queries))))) {}

  int nines() const { return static_cast<int>(nines_); }
  double at(double share) const { return std::min(-std::log10(1 - share) / nines_, 1.0); }

 private:
  double nines_;
};

std::string percentile_panel(const PlotPanel& panel, std::vector<double> latencies_ms) {
  constexpr int kPoints = 400;
  std::ranges::sort(latencies_ms);
  const PercentileAxis axis(latencies_ms.size());
  std::string drawn = panel_frame(panel, "latency by percentile");
  for (int nines = 0; nines <= axis.nines(); ++nines) {
    const double missing = std::pow(10.0, -nines);
    drawn += grid_line(plot_x(axis.at(1 - missing)), panel.top, plot_x(axis.at(1 - missing)),
                       panel.bottom()) +
             plot_text(plot_x(axis.at(1 - missing)), panel.bottom() + 16, "middle",
                       fmt::format("{:.6g} %", 100 * (1 - missing)));
  }
  std::vector<std::pair<double, double>> points;
  for (int i = 0; i <= kPoints; ++i) {
    const double along = static_cast<double>(i) / kPoints;
    const double share = 1 - std::pow(10.0, -along * axis.nines());
    points.emplace_back(along, percentile(latencies_ms, share));
  }
  return drawn + plot_curve(panel, points, "curve");
}

struct Range {
  double low, high;
};

// Returns the least and the greatest latency in ms of the queries that were issued in each of
// `columns` equal parts of the time; empty for a part without queries.
std::vector<std::optional<Range>> ranges_over_time(const std::vector<Query>& queries,
                                                   size_t columns) {
  std::vector<std::optional<Range>> ranges(columns);
  const auto end = static_cast<double>(queries.back().issued_ns + 1);
  for (const Query& query : queries) {
    const double latency = static_cast<double>(query.latency_ns) * 1e-6;
    const auto column = static_cast<size_t>(static_cast<double>(query.issued_ns) / end *
                                            static_cast<double>(columns));
    std::optional<Range>& range = ranges[std::min(column, columns - 1)];
    if (!range) range = {latency, latency};
    range = {std::min(range->low, latency), std::max(range->high, latency)};
  }
  return ranges;
}

std::string time_panel(const PlotPanel& panel, const std::vector<Query>& queries) {
  constexpr size_t kColumns = 360;
  std::string drawn = panel_frame(panel, "latency by time of issue");
  const double seconds = static_cast<double>(queries.back().issued_ns) * 1e-9;
  for (const double share : {0.0, 0.5, 1.0})
    drawn += plot_text(plot_x(share), panel.bottom() + 16, "middle",
                       fmt::format("{:.3g} s", share * seconds));
  const std::vector<std::optional<Range>> ranges = ranges_over_time(queries, kColumns);
  for (size_t column = 0; column < kColumns; ++column) {
    if (!ranges[column]) continue;
    const double at = plot_x((static_cast<double>(column) + 0.5) / kColumns);
    // The line is one pixel longer at either end, so that a single latency is visible, too.
    drawn +=
        fmt::format(R"(<line class="range" x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}"/>)",
                    at, panel.y(ranges[column]->low) + 1, panel.y(ranges[column]->high) - 1);
  }
  return drawn;
}

}  // namespace

std::string latency_plot(const std::string& title, const Measurement& measured) {
  const std::vector<double> latencies = measured.latencies_ms();
  const double highest = std::max(*std::ranges::max_element(latencies), 1e-6);
  const PlotPanel upper{top_of_panel(0), highest, "ms"}, lower{top_of_panel(1), highest, "ms"};
  return plot_file(title, 2,
                   percentile_panel(upper, latencies) + time_panel(lower, measured.queries));
}

}  // namespace millrace::cli
