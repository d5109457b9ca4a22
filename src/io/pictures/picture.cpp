#include "io/pictures/picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/pictures/decode.h"
#include "vision/preprocess/preprocess.h"

namespace millrace::io {
namespace {

// Returns the parameters in the order R, G, B, which preprocessing expects.
vision::Normalisation normalisation_of(const PictureOptions& options) {
  vision::Normalisation normalisation{options.mean, options.scale};
  if (options.channels == 3 && options.order == vision::ChannelOrder::kBgr) {
    std::ranges::reverse(normalisation.mean);
    std::ranges::reverse(normalisation.scale);
  }
  return normalisation;
}

vision::TargetPicture target_of(std::vector<float>& planes, const PictureOptions& options) {
  const auto arrangement =
      options.channels == 1 ? vision::Arrangement::kGrey : vision::Arrangement::kPlanar;
  vision::TargetPicture target{
      {arrangement, options.order, tensor::DataType::kFloat32}, options.width, options.height};
  const size_t stride = size_t{options.width} * sizeof(float);
  for (uint32_t plane = 0; plane < options.channels; ++plane) {
    target.planes[plane] =
        reinterpret_cast<uint8_t*>(planes.data()) + plane * options.height * stride;
    target.strides[plane] = stride;
  }
  return target;
}

Status check_channels(const PictureOptions& options) {
  if (options.channels == 1 || options.channels == 3) return {};
  return invalid_argument(
      fmt::format("the number of channels must be 1 or 3, not {}", options.channels));
}

}  // namespace

Result<std::vector<float>> planes_of(const vision::SourcePicture& picture,
                                     const PictureOptions& options) {
  MILLRACE_RETURN_IF_ERROR(check_channels(options));
  std::vector<float> planes(size_t{options.channels} * options.height * options.width);
  MILLRACE_RETURN_IF_ERROR(vision::preprocess(picture, {0, 0, picture.width, picture.height},
                                              target_of(planes, options),
                                              {0, 0, options.width, options.height},
                                              {.fit = options.fit,
                                               .filter = vision::Filter::kArea,
                                               .normalisation = normalisation_of(options)})
                               .status());
  return planes;
}

Result<std::vector<float>> load_picture(const std::string& path, const PictureOptions& options) {
  MILLRACE_RETURN_IF_ERROR(check_channels(options).with_context(path));
  MILLRACE_ASSIGN_OR_RETURN(const Pixels picture,
                            decode_file(path, {options.channels, options.max_pixels}));
  Result<std::vector<float>> planes = planes_of(source_of(picture), options);
  if (!planes.ok()) return planes.status().with_context(path);
  return planes;
}

}  // namespace millrace::io
