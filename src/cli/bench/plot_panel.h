// The parts of drawings with panels, one below the other, as SVG text. Coordinates are in pixels,
// with y downwards. Thread-safe.
#pragma once

#include <span>
#include <string>
#include <utility>

namespace millrace::cli {

// A panel of a drawing, in which values from 0 to `highest` are drawn upwards.
struct PlotPanel {
  static constexpr double kWidth = 720, kHeight = 220;  // without its labels
  static constexpr double kLeft = 70;

  double top;
  double highest;
  const char* unit;  // of its values

  double bottom() const { return top + kHeight; }
  double y(double value) const { return top + kHeight * (1 - value / highest); }
};

// Returns the top of the panel with that index in a drawing.
double top_of_panel(int index);

// Returns the coordinate at a share of a panel's width.
double plot_x(double share);

std::string plot_text(double at_x, double at_y, const char* anchor, const std::string& content);
std::string grid_line(double x1, double y1, double x2, double y2);

// Returns the frame of a panel, its caption, and the grid and labels of its values.
std::string panel_frame(const PlotPanel& panel, const std::string& caption);

// Returns a line through points, each a share of the width and a value. The class "curve" is drawn
// in the first colour, "second" in another.
std::string plot_curve(const PlotPanel& panel, std::span<const std::pair<double, double>> points,
                       const char* css_class);

// Returns a small circle at each of the points, by which a single one is visible, too.
std::string plot_points(const PlotPanel& panel, std::span<const std::pair<double, double>> points,
                        const char* css_class);

// Returns an SVG file with the title above `panels` panels, whose elements are `content`.
std::string plot_file(const std::string& title, int panels, const std::string& content);

}  // namespace millrace::cli
