#include "vartx/preprocess/preprocess_config.h"

#include <fmt/format.h>

#include <stdexcept>

#include "base/float_environment.h"
#include "vartx/json_config.h"
#include "vartx/preprocess/picture_formats.h"

namespace millrace::vartx {
namespace {

using tensor::DataType;
using ::vart::PreProcessType;
using ::vart::VideoFormat;
using vision::Filter;

VideoFormat colour_format(const JsonConfig& json) {
  const std::string text = json.text("colour-format", "");
  const VideoFormat format = video_format(text);
  if (format == VideoFormat::UNKNOWN && !text.empty())
    throw std::invalid_argument(
        fmt::format("\"colour-format\": \"{}\" is not a supported format", text));
  return format;
}

PreProcessType preprocess_type(const JsonConfig& json) {
  if (!json.boolean("maintain-aspect-ratio", false)) return PreProcessType::DEFAULT;
  return json.named("resizing-type", PreProcessType::DEFAULT,
                    {{"DEFAULT", PreProcessType::DEFAULT},
                     {"LETTERBOX", PreProcessType::LETTERBOX},
                     {"PANSCAN", PreProcessType::PANSCAN}});
}

::vart::PreProcessInfo info_in(const JsonConfig& json) {
  ::vart::PreProcessInfo info{};
  info.qt_fctr = 1;
  info.mean_r = json.number("mean-r", 0);
  info.mean_g = json.number("mean-g", 0);
  info.mean_b = json.number("mean-b", 0);
  info.scale_r = json.number("scale-r", 1);
  info.scale_g = json.number("scale-g", 1);
  info.scale_b = json.number("scale-b", 1);
  info.colour_format = colour_format(json);
  info.preprocess_type = preprocess_type(json);
  info.symmetric_padding = json.boolean("symmetric-padding", false);
  return info;
}

}  // namespace

PreProcessConfig parse_preprocess_config(const std::string& text) {
  const DefaultFloatEnvironment floats;
  const JsonConfig json = JsonConfig::parse(text);
  PreProcessConfig config;
  config.info = info_in(json);
  if (json.has("quant-scale-factor"))
    config.quant_scale_factor = json.number("quant-scale-factor", 1);
  config.info.qt_fctr = config.quant_scale_factor.value_or(1);
  config.byte_type = json.named("output-type", DataType::kInt8,
                                {{"INT8", DataType::kInt8}, {"UINT8", DataType::kUint8}});
  config.filter = json.named(
      "resize-filter", Filter::kAuto,
      {{"AUTO", Filter::kAuto}, {"BILINEAR", Filter::kBilinear}, {"AREA", Filter::kArea}});
  return config;
}

}  // namespace millrace::vartx
