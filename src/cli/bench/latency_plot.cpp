// The SVG is written as text: each function returns elements for a part of the drawing. Coordinates
// are in pixels, with y downwards.
#include "cli/bench/latency_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "cli/bench/percentiles.h"
#include "cli/report/html.h"

namespace millrace::cli {
namespace {

constexpr double kWidth = 720, kHeight = 220;  // size of a panel without its labels
constexpr double kLeft = 70, kTop = 50, kBetween = 70;

constexpr const char* kStyle =
    "svg{color-scheme:light dark;background:Canvas;font:12px sans-serif}"
    "text{fill:CanvasText}"
    ".frame{fill:none;stroke:GrayText}"
    ".grid{stroke:GrayText;stroke-opacity:0.3}"
    ".curve{fill:none;stroke:#3b6ea8;stroke-width:2}"
    ".range{stroke:#3b6ea8}";

// A panel whose upper left corner is at (kLeft, top), for latencies from 0 to `highest` in ms.
struct Panel {
  double top;
  double highest;

  double y(double latency_ms) const { return top + kHeight * (1 - latency_ms / highest); }
};

// Returns the coordinate at a share of the panel's width.
double x(double share) {
  return kLeft + kWidth * share;
}

std::string text(double at_x, double at_y, const char* anchor, const std::string& content) {
  return fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)", at_x, at_y,
                     anchor, html_escaped(content));
}

std::string grid_line(double x1, double y1, double x2, double y2) {
  return fmt::format(R"(<line class="grid" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)", x1,
                     y1, x2, y2);
}

// Draws the frame of a panel, its caption, and the grid and labels of its latency axis.
std::string frame(const Panel& panel, const std::string& caption) {
  constexpr int kSteps = 4;
  std::string drawn = fmt::format(R"(<rect class="frame" x="{}" y="{}" width="{}" height="{}"/>)",
                                  kLeft, panel.top, kWidth, kHeight) +
                      text(kLeft, panel.top - 8, "start", caption);
  for (int i = 0; i <= kSteps; ++i) {
    const double latency = panel.highest * i / kSteps;
    drawn += grid_line(x(0), panel.y(latency), x(1), panel.y(latency)) +
             text(kLeft - 6, panel.y(latency) + 4, "end", fmt::format("{:.3g} ms", latency));
  }
  return drawn;
}

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

std::string percentile_panel(const Panel& panel, std::vector<double> latencies_ms) {
  constexpr int kPoints = 400;
  std::ranges::sort(latencies_ms);
  const PercentileAxis axis(latencies_ms.size());
  std::string drawn = frame(panel, "latency by percentile");
  for (int nines = 0; nines <= axis.nines(); ++nines) {
    const double missing = std::pow(10.0, -nines);
    drawn += grid_line(x(axis.at(1 - missing)), panel.top, x(axis.at(1 - missing)),
                       panel.top + kHeight) +
             text(x(axis.at(1 - missing)), panel.top + kHeight + 16, "middle",
                  fmt::format("{:.6g} %", 100 * (1 - missing)));
  }
  std::string points;
  for (int i = 0; i <= kPoints; ++i) {
    const double along = static_cast<double>(i) / kPoints;
    const double share = 1 - std::pow(10.0, -along * axis.nines());
    points += fmt::format("{:.1f},{:.1f} ", x(along), panel.y(percentile(latencies_ms, share)));
  }
  return drawn + fmt::format(R"(<polyline class="curve" points="{}"/>)", points);
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

std::string time_panel(const Panel& panel, const std::vector<Query>& queries) {
  constexpr size_t kColumns = 360;
  std::string drawn = frame(panel, "latency by time of issue");
  const double seconds = static_cast<double>(queries.back().issued_ns) * 1e-9;
  for (const double share : {0.0, 0.5, 1.0})
    drawn += text(x(share), panel.top + kHeight + 16, "middle",
                  fmt::format("{:.3g} s", share * seconds));
  const std::vector<std::optional<Range>> ranges = ranges_over_time(queries, kColumns);
  for (size_t column = 0; column < kColumns; ++column) {
    if (!ranges[column]) continue;
    const double at = x((static_cast<double>(column) + 0.5) / kColumns);
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
  const Panel upper{kTop + 24, highest}, lower{kTop + 24 + kHeight + kBetween, highest};
  const double height = lower.top + kHeight + 40, width = kLeft + kWidth + 50;
  return fmt::format(
             R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}">)",
             width, height) +
         fmt::format("<style>{}</style>", kStyle) + text(kLeft, 30, "start", title) +
         percentile_panel(upper, latencies) + time_panel(lower, measured.queries) + "</svg>\n";
}

}  // namespace millrace::cli
