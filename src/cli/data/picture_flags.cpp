#include "cli/data/picture_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace millrace::cli {
namespace {

// Sets the channels from one value for all of them, or one value per channel.
Status set_channels(const char* option, const std::vector<float>& values,
                    std::array<float, 3>* channels) {
  if (values.empty()) return {};
  if (values.size() != 1 && values.size() != 3)
    return invalid_argument(
        fmt::format("{} takes one value or three values, not {}", option, values.size()));
  for (size_t i = 0; i < channels->size(); ++i) (*channels)[i] = values[i % values.size()];
  return {};
}

// Sets the values that the name of a normalisation stands for. They are in the order of the
// network's channels, as those of --mean are.
void set_named(const std::string& name, bool bgr, io::PictureOptions* options) {
  if (name == "imagenet") {
    options->mean = {123.675F, 116.28F, 103.53F};
    options->scale = {1 / 58.395F, 1 / 57.12F, 1 / 57.375F};
  }
  if (name == "unit") options->scale.fill(1 / 255.0F);
  if (!bgr) return;
  std::ranges::reverse(options->mean);
  std::ranges::reverse(options->scale);
}

Status check_named(const PictureFlags& flags) {
  if (flags.normalise.empty()) return {};
  if (!flags.mean.empty() || !flags.scale.empty() || !flags.deviation.empty())
    return invalid_argument(
        "--normalize stands for --mean, --scale and --std: give one or the other");
  return {};
}

Status set_deviation(const std::vector<float>& deviation, std::array<float, 3>* scale) {
  if (std::ranges::find(deviation, 0.0F) != deviation.end())
    return invalid_argument("--std: values cannot be divided by 0");
  std::vector<float> inverse;
  for (const float value : deviation) inverse.push_back(1 / value);
  return set_channels("--std", inverse, scale);
}

}  // namespace

bool states_normalisation(const PictureFlags& flags) {
  return !flags.mean.empty() || !flags.scale.empty() || !flags.deviation.empty() ||
         !flags.normalise.empty();
}

Result<io::PictureOptions> picture_options(const PictureFlags& flags) {
  io::PictureOptions options;
  MILLRACE_RETURN_IF_ERROR(check_named(flags));
  if (!flags.scale.empty() && !flags.deviation.empty())
    return invalid_argument("--std divides and --scale multiplies: give one of them");
  options.order = flags.order == "bgr" ? vision::ChannelOrder::kBgr : vision::ChannelOrder::kRgb;
  const vision::Fit fit = flags.resize == "crop"        ? vision::Fit::kCrop
                          : flags.resize == "letterbox" ? vision::Fit::kLetterbox
                                                        : vision::Fit::kStretch;
  if (flags.short_side != 0 && fit != vision::Fit::kCrop)
    return invalid_argument("--short-side needs --resize crop");
  options.fit = {.fit = fit, .symmetric_padding = true, .short_side = flags.short_side};
  MILLRACE_RETURN_IF_ERROR(set_channels("--mean", flags.mean, &options.mean));
  MILLRACE_RETURN_IF_ERROR(set_channels("--scale", flags.scale, &options.scale));
  MILLRACE_RETURN_IF_ERROR(set_deviation(flags.deviation, &options.scale));
  set_named(flags.normalise, flags.order == "bgr", &options);
  return options;
}

}  // namespace millrace::cli
