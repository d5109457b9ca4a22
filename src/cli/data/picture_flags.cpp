#include "cli/data/picture_flags.h"

#include <fmt/format.h>

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

}  // namespace

Result<io::PictureOptions> picture_options(const PictureFlags& flags) {
  io::PictureOptions options;
  options.order = flags.order == "bgr" ? vision::ChannelOrder::kBgr : vision::ChannelOrder::kRgb;
  const vision::Fit fit = flags.resize == "crop"        ? vision::Fit::kCrop
                          : flags.resize == "letterbox" ? vision::Fit::kLetterbox
                                                        : vision::Fit::kStretch;
  if (flags.short_side != 0 && fit != vision::Fit::kCrop)
    return invalid_argument("--short-side needs --resize crop");
  options.fit = {.fit = fit, .symmetric_padding = true, .short_side = flags.short_side};
  MILLRACE_RETURN_IF_ERROR(set_channels("--mean", flags.mean, &options.mean));
  MILLRACE_RETURN_IF_ERROR(set_channels("--scale", flags.scale, &options.scale));
  return options;
}

}  // namespace millrace::cli
