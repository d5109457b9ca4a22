#include "cli/compare/layer_report.h"
#include "cli/print_escaped.h"
#include "cli/report/json_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace millrace::cli {
namespace {

using Json = nlohmann::ordered_json;

std::vector<LayerDifference>::const_iterator first_beyond(const LayerReport& report) {
  return std::ranges::find(report.layers, true, &LayerDifference::beyond);
}

// Prints the layer of integers with the largest difference. Quantised values are integers, for
// which steps say more than relative errors.
void print_steps(const LayerReport& report) {
  const auto furthest = std::ranges::max_element(
      report.layers, {}, [](const LayerDifference& layer) { return layer.steps.value_or(-1); });
  if (furthest != report.layers.end() && furthest->steps)
    print_escaped("integers differ by at most {:g} steps, in {}\n", *furthest->steps,
                  furthest->value);
}

}  // namespace

bool is_within(const LayerReport& report) {
  return first_beyond(report) == report.layers.end();
}

void print_layers_text(const LayerReport& report) {
  const auto first = first_beyond(report);
  print_escaped("  {:<12} {:<12} {:<12} {:<6} value\n", "largest", "relative", "cosine", "steps");
  for (auto layer = report.layers.begin(); layer != report.layers.end(); ++layer)
    print_escaped(
        "{} {:<12.4e} {:<12.4e} {:<12.9f} {:<6} {} [{}]{}\n", layer->beyond ? "!" : " ",
        layer->largest, layer->relative, layer->cosine,
        layer->steps ? fmt::format("{:g}", *layer->steps) : "", layer->value,
        fmt::join(layer->shape, ","),
        layer == first ? fmt::format("  <- the first beyond {:g}", report.threshold) : "");
  if (report.not_compared > 0)
    print_escaped("{} values of the first model have no counterpart of the same name and shape\n",
                  report.not_compared);
  print_escaped("{} of {} values differ by more than {:g}\n",
                std::ranges::count(report.layers, true, &LayerDifference::beyond),
                report.layers.size(), report.threshold);
  print_steps(report);
}

std::string layers_json(const LayerReport& report) {
  const auto first = first_beyond(report);
  Json json = {{"threshold", report.threshold},
               {"not_compared", report.not_compared},
               {"first_beyond", first == report.layers.end() ? Json() : Json(first->value)},
               {"layers", Json::array()}};
  for (const LayerDifference& layer : report.layers)
    json["layers"].push_back({{"value", layer.value},
                              {"shape", layer.shape},
                              {"largest", layer.largest},
                              {"relative", layer.relative},
                              {"cosine", layer.cosine},
                              {"steps", layer.steps ? Json(*layer.steps) : Json()},
                              {"beyond", layer.beyond}});
  return json_lines(json);
}

}  // namespace millrace::cli
