#include "vartx/postprocess/postprocess_config.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace millrace::vartx {
namespace {

// Far more than any network has, and few enough that products of two fit 64 bits.
constexpr uint32_t kLargest = 1 << 24;

uint32_t count_in(double value, const std::string& key, uint32_t least) {
  if (!(value >= least && value <= kLargest) || std::trunc(value) != value)
    throw std::invalid_argument(
        fmt::format("\"{}\": {} is not a whole number from {} to {}", key, value, least, kLargest));
  return static_cast<uint32_t>(value);
}

float positive(const JsonConfig& json, const std::string& key, float fallback) {
  const float value = json.number(key, fallback);
  if (value <= 0) throw std::invalid_argument(fmt::format("\"{}\": {} is not above 0", key, value));
  return value;
}

float share(const JsonConfig& json, const std::string& key, float fallback) {
  const float value = json.number(key, fallback);
  if (value < 0 || value > 1)
    throw std::invalid_argument(fmt::format("\"{}\": {} is not within 0 to 1", key, value));
  return value;
}

std::vector<ModelParams::GridShape> read_grid_shapes(const JsonConfig& json) {
  const std::string key = "grid-shape";
  std::vector<ModelParams::GridShape> shapes;
  for (const std::vector<float>& row : json.number_rows(key)) {
    if (row.size() != 2)
      throw std::invalid_argument(
          fmt::format("\"{}\": {} numbers where height and width are expected", key, row.size()));
    shapes.push_back({count_in(row[0], key, 1), count_in(row[1], key, 1)});
  }
  return shapes;
}

// Widths and heights by turns, however they are grouped.
std::vector<vision::Anchor> read_anchors(const JsonConfig& json) {
  std::vector<float> sides;
  for (const std::vector<float>& row : json.number_rows("anchors"))
    sides.insert(sides.end(), row.begin(), row.end());
  if (sides.size() % 2 != 0)
    throw std::invalid_argument(
        fmt::format("\"anchors\": {} numbers are no pairs of width and height", sides.size()));
  std::vector<vision::Anchor> anchors;
  for (size_t i = 0; i < sides.size(); i += 2) anchors.push_back({sides[i], sides[i + 1]});
  return anchors;
}

std::string first_or_empty(const std::vector<std::string>& texts) {
  return texts.empty() ? std::string() : texts.front();
}

ModelParams read_model_params(const JsonConfig& json) {
  ModelParams params;
  params.grid_shapes = read_grid_shapes(json);
  params.anchors = read_anchors(json);
  for (const int64_t count : json.integers("num-anchorboxes"))
    params.boxes_per_cell.push_back(count_in(static_cast<double>(count), "num-anchorboxes", 0));
  params.input_layout = first_or_empty(json.texts("input-layout"));
  params.output_layouts = json.texts("output-layout");
  params.has_objectness = json.boolean("is-obj-score-included", false);
  params.anchors_in_cells = json.boolean("is-scaling-required", false);
  params.apply_sigmoid = json.boolean("apply-sigmoid-to-obj-conf", false);
  return params;
}

void read_function_options(const JsonConfig& json, PostProcessConfig& config) {
  config.platt_a = json.number("platt-param-a", config.platt_a);
  config.platt_b = json.number("platt-param-b", config.platt_b);
  config.bias = json.numbers("bias");
  config.temperature = positive(json, "temperature-scaling", config.temperature);
  config.threshold = json.number("threshold", config.threshold);
}

}  // namespace

PostProcessConfig read_postprocess_config(const JsonConfig& json) {
  PostProcessConfig config;
  config.top_k = count_in(static_cast<double>(json.integer("topk", config.top_k)), "topk", 1);
  config.print = json.boolean("post-process-print", config.print);
  config.outlier_threshold = json.number("outlier-threshold", config.outlier_threshold);
  config.nms_threshold = share(json, "nms-threshold", config.nms_threshold);
  config.confidence = share(json, "conf-threshold", config.confidence);
  read_function_options(json.object("function-options"), config);
  config.model = read_model_params(json.object("model-params"));
  config.labels = Labels(json.text("label-file-path", ""));
  return config;
}

}  // namespace millrace::vartx
