#include "cli/bench/plot_panel.h"

#include <fmt/format.h>

#include "cli/report/html.h"

namespace millrace::cli {
namespace {

constexpr double kTop = 74, kBetween = 70;

constexpr const char* kStyle =
    "svg{color-scheme:light dark;background:Canvas;font:12px sans-serif}"
    "text{fill:CanvasText}"
    ".frame{fill:none;stroke:GrayText}"
    ".grid{stroke:GrayText;stroke-opacity:0.3}"
    ".curve{fill:none;stroke:#3b6ea8;stroke-width:2}"
    ".second{fill:none;stroke:#c26a2d;stroke-width:2}"
    ".range{stroke:#3b6ea8}";

}  // namespace

double top_of_panel(int index) {
  return kTop + index * (PlotPanel::kHeight + kBetween);
}

double plot_x(double share) {
  return PlotPanel::kLeft + PlotPanel::kWidth * share;
}

std::string plot_text(double at_x, double at_y, const char* anchor, const std::string& content) {
  return fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)", at_x, at_y,
                     anchor, html_escaped(content));
}

std::string grid_line(double x1, double y1, double x2, double y2) {
  return fmt::format(R"(<line class="grid" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)", x1,
                     y1, x2, y2);
}

std::string panel_frame(const PlotPanel& panel, const std::string& caption) {
  constexpr int kSteps = 4;
  std::string drawn =
      fmt::format(R"(<rect class="frame" x="{}" y="{}" width="{}" height="{}"/>)", PlotPanel::kLeft,
                  panel.top, PlotPanel::kWidth, PlotPanel::kHeight) +
      plot_text(PlotPanel::kLeft, panel.top - 8, "start", caption);
  for (int i = 0; i <= kSteps; ++i) {
    const double value = panel.highest * i / kSteps;
    drawn += grid_line(plot_x(0), panel.y(value), plot_x(1), panel.y(value)) +
             plot_text(PlotPanel::kLeft - 6, panel.y(value) + 4, "end",
                       fmt::format("{:.3g} {}", value, panel.unit));
  }
  return drawn;
}

std::string plot_curve(const PlotPanel& panel, std::span<const std::pair<double, double>> points,
                       const char* css_class) {
  std::string drawn;
  for (const auto& [share, value] : points)
    drawn += fmt::format("{:.1f},{:.1f} ", plot_x(share), panel.y(value));
  return fmt::format(R"(<polyline class="{}" points="{}"/>)", css_class, drawn);
}

std::string plot_points(const PlotPanel& panel, std::span<const std::pair<double, double>> points,
                        const char* css_class) {
  std::string drawn;
  for (const auto& [share, value] : points)
    drawn += fmt::format(R"(<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="3"/>)", css_class,
                         plot_x(share), panel.y(value));
  return drawn;
}

std::string plot_file(const std::string& title, int panels, const std::string& content) {
  const double height = top_of_panel(panels - 1) + PlotPanel::kHeight + 40;
  const double width = PlotPanel::kLeft + PlotPanel::kWidth + 50;
  return fmt::format(
             R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}">)",
             width, height) +
         fmt::format("<style>{}</style>", kStyle) +
         plot_text(PlotPanel::kLeft, 30, "start", title) + content + "</svg>\n";
}

}  // namespace millrace::cli
