// Reads and validates the keys of each type of postprocessing. Only the keys that a type uses are
// read, so that invalid values of others do not matter.
#include "vartx/postprocess/postprocess_config.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace millrace::vartx {
namespace {

using ::vart::PostProcessType;

// The limit for counts: far more than any network needs, and small enough that the product of two
// counts fits in 64 bits.
constexpr uint32_t kLargest = 1 << 24;

uint32_t count_in(double value, const std::string& key, uint32_t least) {
  if (!(value >= least && value <= kLargest) || std::trunc(value) != value)
    throw std::invalid_argument(
        fmt::format("\"{}\": {} is not a whole number from {} to {}", key, value, least, kLargest));
  return static_cast<uint32_t>(value);
}

float positive(const JsonConfig& json, const std::string& key, float fallback) {
  const float value = json.number(key, fallback);
  if (value <= 0)
    throw std::invalid_argument(fmt::format("\"{}\": {} is not positive", key, value));
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

// Reads anchors from alternating widths and heights, which may be grouped in nested lists.
std::vector<vision::Anchor> read_anchors(const JsonConfig& json) {
  const std::vector<float> sides = json.flattened_numbers("anchors");
  if (sides.size() % 2 != 0)
    throw std::invalid_argument(
        fmt::format("\"anchors\": {} numbers are not pairs of width and height", sides.size()));
  std::vector<vision::Anchor> anchors;
  for (size_t i = 0; i < sides.size(); i += 2) anchors.push_back({sides[i], sides[i + 1]});
  return anchors;
}

std::string first_or_empty(const std::vector<std::string>& texts) {
  return texts.empty() ? std::string() : texts.front();
}

ModelParams read_model_params(PostProcessType type, const JsonConfig& json) {
  ModelParams params;
  params.grid_shapes = read_grid_shapes(json);
  params.anchors = read_anchors(json);
  for (const int64_t count : json.integers("num-anchorboxes"))
    params.boxes_per_cell.push_back(count_in(static_cast<double>(count), "num-anchorboxes", 0));
  params.input_layout = first_or_empty(json.texts("input-layout"));
  params.output_layouts = json.texts("output-layout");
  if (type == PostProcessType::YOLOV2) return params;  // the type implies the other parameters
  params.anchors_in_cells = json.boolean("is-scaling-required", false);
  if (type == PostProcessType::SSDRESNET34) return params;
  params.has_objectness = json.boolean("is-obj-score-included", false);
  params.apply_sigmoid = json.boolean("apply-sigmoid-to-obj-conf", false);
  return params;
}

void read_platt(const JsonConfig& options, PostProcessConfig& config) {
  config.platt_a = options.number("platt-param-a", config.platt_a);
  config.platt_b = options.number("platt-param-b", config.platt_b);
}

void read_classification(PostProcessType type, const JsonConfig& json, PostProcessConfig& config) {
  const auto options = [&] { return json.object("function-options"); };
  switch (type) {
    case PostProcessType::ARGMAX:
    case PostProcessType::UNCERTAINTY_ESTIMATION:
      return;  // the result always has one class
    case PostProcessType::OUTLIER_DETECTION:
      config.outlier_threshold = json.number("outlier-threshold", config.outlier_threshold);
      break;
    case PostProcessType::THRESHOLD:
      config.threshold = options().number("threshold", config.threshold);
      break;
    case PostProcessType::BIAS_CORRECTION:
      config.bias = options().numbers("bias");
      read_platt(options(), config);
      break;
    case PostProcessType::CALIBRATION_PLATT:
      read_platt(options(), config);
      break;
    case PostProcessType::CALIBRATION_TEMPERATURE:
      config.temperature = positive(options(), "temperature-scaling", config.temperature);
      break;
    default:
      break;
  }
  config.top_k = count_in(static_cast<double>(json.integer("topk", config.top_k)), "topk", 1);
}

void read_detection(PostProcessType type, const JsonConfig& json, PostProcessConfig& config) {
  config.confidence = share(json, "conf-threshold", config.confidence);
  const bool compares =
      type != PostProcessType::ANCHOR_ADJUSTMENT && type != PostProcessType::SOFT_NMS;
  if (compares) config.nms_threshold = share(json, "nms-threshold", config.nms_threshold);
  config.model = read_model_params(type, json.object("model-params"));
}

}  // namespace

ResultKind kind_of(PostProcessType type) noexcept {
  switch (type) {
    case PostProcessType::RESNET50:
    case PostProcessType::ARGMAX:
    case PostProcessType::BIAS_CORRECTION:
    case PostProcessType::CALIBRATION_PLATT:
    case PostProcessType::CALIBRATION_TEMPERATURE:
    case PostProcessType::LABEL_MAPPING:
    case PostProcessType::NORMALIZATION:
    case PostProcessType::OUTLIER_DETECTION:
    case PostProcessType::SOFTMAX:
    case PostProcessType::THRESHOLD:
    case PostProcessType::TOPK:
    case PostProcessType::UNCERTAINTY_ESTIMATION:
      return ResultKind::kClassification;
    case PostProcessType::YOLOV2:
    case PostProcessType::SSDRESNET34:
    case PostProcessType::DISTANCE_IOU_NMS:
    case PostProcessType::SOFT_NMS:
    case PostProcessType::CLASSWISE_NMS:
    case PostProcessType::OBJECT_COUNT:
    case PostProcessType::NMS:
    case PostProcessType::ANCHOR_ADJUSTMENT:
      return ResultKind::kDetection;
    case PostProcessType::SOFTMAXSEG:
    case PostProcessType::SIGMOIDSEG:
    case PostProcessType::ARGMAXSEG:
      return ResultKind::kSegmentation;
    case PostProcessType::UNKNOWN:
      break;
  }
  return ResultKind::kNone;
}

PostProcessConfig read_common_config(const JsonConfig& json) {
  PostProcessConfig config;
  config.print = json.boolean("post-process-print", config.print);
  config.byte_type =
      json.named("tensor-type", config.byte_type,
                 {{"INT8", tensor::DataType::kInt8}, {"UINT8", tensor::DataType::kUint8}});
  return config;
}

PostProcessConfig read_postprocess_config(PostProcessType type, const JsonConfig& json) {
  PostProcessConfig config = read_common_config(json);
  switch (kind_of(type)) {
    case ResultKind::kClassification:
      read_classification(type, json, config);
      break;
    case ResultKind::kDetection:
      read_detection(type, json, config);
      break;
    case ResultKind::kSegmentation:
      config.model.output_layouts = json.object("model-params").texts("output-layout");
      return config;  // class maps have no labels
    case ResultKind::kNone:
      throw std::invalid_argument(
          fmt::format("PostProcess: {} is not a known type", static_cast<int>(type)));
  }
  config.labels = Labels(json.text("label-file-path", ""));
  return config;
}

}  // namespace millrace::vartx
