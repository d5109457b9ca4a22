#include "cli/inputs/colour_format.h"

#include <map>
#include <tuple>

namespace millrace::cli {
namespace {

using tensor::DataType;
using tensor::Layout;

// Returns the number of channels of a pixel in this layout, padding included; 0 if the tensor
// cannot hold pictures.
uint32_t pixel_channels(const tensor::TensorDesc& desc) {
  switch (desc.layout) {
    case Layout::kHcwnc4:
      return desc.shape.size() == 5 && desc.shape[1] == 1 ? 4 : 0;
    case Layout::kNchw:
      return desc.shape.size() == 4 ? desc.shape[1] : 0;
    case Layout::kNhwc:
      return desc.shape.size() == 4 ? desc.shape[3] : 0;
    default:
      return 0;
  }
}

}  // namespace

std::string_view preprocess_colour_format(const tensor::TensorDesc& desc) {
  using Key = std::tuple<Layout, uint32_t, DataType>;
  static const std::map<Key, std::string_view> formats = {
      {{Layout::kHcwnc4, 4, DataType::kInt8}, "RGBX"},
      {{Layout::kHcwnc4, 4, DataType::kUint8}, "RGBX"},
      {{Layout::kHcwnc4, 4, DataType::kBf16}, "RGBX_BF16"},
      {{Layout::kHcwnc4, 4, DataType::kFp16}, "RGBX_FP16"},
      {{Layout::kNchw, 3, DataType::kInt8}, "RGBP"},
      {{Layout::kNchw, 3, DataType::kUint8}, "RGBP"},
      {{Layout::kNchw, 3, DataType::kBf16}, "RGBP_BF16"},
      {{Layout::kNchw, 3, DataType::kFp16}, "RGBP_FP16"},
      {{Layout::kNchw, 3, DataType::kFloat32}, "RGBP_FLOAT"},
      {{Layout::kNhwc, 3, DataType::kInt8}, "RGB"},
      {{Layout::kNhwc, 3, DataType::kUint8}, "RGB"},
      {{Layout::kNhwc, 3, DataType::kBf16}, "RGB_BF16"},
      {{Layout::kNhwc, 3, DataType::kFp16}, "RGB_FP16"},
      {{Layout::kNhwc, 3, DataType::kFloat32}, "RGB_FLOAT"},
  };
  const auto found = formats.find({desc.layout, pixel_channels(desc), desc.type});
  return found == formats.end() ? std::string_view() : found->second;
}

}  // namespace millrace::cli
