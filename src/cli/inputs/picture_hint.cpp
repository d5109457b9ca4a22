// The normalisation is assumed from the type and the channels of the input: pixels as they are for
// bytes without quantisation (less 128 for INT8); otherwise the mean and scale of ImageNet for
// classifiers of three channels, and the range [0, 1] for all others: detectors are hardly ever
// trained on ImageNet's. If the view is quantised, its scale and zero point
// are folded in.
#include "cli/inputs/picture_hint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "cli/inputs/colour_format.h"
#include "quantise/measure/scores.h"

namespace millrace::cli {
namespace {

using Json = nlohmann::ordered_json;
using tensor::DataType;

// y = (x - mean) * scale for the channels R, G and B, with x from 0 to 255.
struct Normalisation {
  std::array<double, 3> mean{0, 0, 0};
  std::array<double, 3> scale{1, 1, 1};
  std::string name;
};

const Normalisation kImageNet{{123.675, 116.28, 103.53},
                              {0.0171248, 0.017507, 0.0174292},
                              "mean and scale (here those of ImageNet)"};
const Normalisation kUnit{
    {0, 0, 0}, {0.00392157, 0.00392157, 0.00392157}, "mean and scale (here values from 0 to 1)"};
const Normalisation kPixels{{0, 0, 0}, {1, 1, 1}, "mean and scale (here pixels as they are)"};
const Normalisation kSignedPixels{
    {128, 128, 128}, {1, 1, 1}, "mean and scale (here pixels less 128, which INT8 holds)"};

bool is_byte(DataType type) {
  return type == DataType::kInt8 || type == DataType::kUint8;
}

bool is_quantised(const tensor::QuantParams& quant) {
  return quant.scale != 1 || quant.zero_point != 0;
}

const Normalisation& usual_normalisation(const graph::Boundary& input, bool is_classifier) {
  if (is_byte(input.cpu.type) && !is_quantised(input.quant))
    return input.cpu.type == DataType::kInt8 ? kSignedPixels : kPixels;
  return is_classifier && input.cpu.shape[1] == 3 ? kImageNet : kUnit;
}

// Returns the scale and zero point that apply to the elements of a view. Floating-point views of a
// quantised tensor hold the real values themselves.
tensor::QuantParams quantisation_in(const graph::Boundary& input, const tensor::TensorDesc& view) {
  return is_byte(view.type) ? input.quant : tensor::QuantParams();
}

// Includes the zero point in the mean: neither the options nor PreProcess have a value that is
// added after the scale.
Normalisation with_zero_point(Normalisation normalisation, const tensor::QuantParams& quant) {
  for (size_t i = 0; i < 3; ++i)
    normalisation.mean[i] -= quant.zero_point * quant.scale / normalisation.scale[i];
  return normalisation;
}

// Returns the length to which a classifier's picture is resized on its shorter side before it is
// cropped: 256 for an input of 224, as is usual for ImageNet, and in proportion for others.
uint32_t short_side(const tensor::TensorDesc& cpu) {
  return (std::min(cpu.shape[2], cpu.shape[3]) * 8 + 3) / 7;
}

std::string run_options(const graph::Boundary& input, const Normalisation& usual, bool crops) {
  const tensor::QuantParams quant = quantisation_in(input, input.cpu);
  const Normalisation normalisation = with_zero_point(usual, quant);
  const size_t channels = input.cpu.shape[1];
  std::vector<std::string> mean, scale;
  for (size_t i = 0; i < channels; ++i) {
    mean.push_back(fmt::format("{:.6g}", normalisation.mean[i]));
    scale.push_back(fmt::format("{:.6g}", normalisation.scale[i] / quant.scale));
  }
  const std::string resize =
      crops ? fmt::format("crop --short-side {}", short_side(input.cpu)) : "stretch";
  return fmt::format("--resize {} --mean {} --scale {}", resize, fmt::join(mean, ","),
                     fmt::join(scale, ","));
}

// Returns a configuration for the view; null if PreProcess has no format for it.
Json preprocess_config(const graph::Boundary& input, const tensor::TensorDesc& view,
                       const Normalisation& usual, bool crops) {
  const std::string_view format = preprocess_colour_format(view);
  if (input.cpu.shape[1] != 3 || format.empty()) return nullptr;
  const tensor::QuantParams quant = quantisation_in(input, view);
  const Normalisation normalisation = with_zero_point(usual, quant);
  Json config;
  constexpr const char* kChannels[] = {"r", "g", "b"};
  for (size_t i = 0; i < 3; ++i)
    config[fmt::format("mean-{}", kChannels[i])] = normalisation.mean[i];
  for (size_t i = 0; i < 3; ++i)
    config[fmt::format("scale-{}", kChannels[i])] = normalisation.scale[i];
  config["colour-format"] = format;
  if (crops) {
    config["maintain-aspect-ratio"] = true;
    config["resizing-type"] = "PANSCAN";
  }
  if (quant.scale != 1) config["quant-scale-factor"] = 1 / quant.scale;
  if (view.type == DataType::kUint8) config["output-type"] = "UINT8";
  return config;
}

}  // namespace

Json picture_hint(const graph::CompiledModel& model, const graph::Boundary& input) {
  const tensor::TensorDesc& cpu = input.cpu;
  const bool is_picture = cpu.layout == tensor::Layout::kNchw && cpu.shape[0] == 1 &&
                          (cpu.shape[1] == 1 || cpu.shape[1] == 3);
  if (!is_picture || !(input.quant.scale > 0)) return nullptr;
  const bool crops = quantise::is_classifier(model);
  const Normalisation& usual = usual_normalisation(input, crops);
  Json hint = {{"run_options", run_options(input, usual, crops)}};
  const Json for_cpu = preprocess_config(input, cpu, usual, crops);
  if (!for_cpu.is_null()) hint["preprocess_cpu"] = for_cpu;
  const Json for_hw = input.hw ? preprocess_config(input, *input.hw, usual, crops) : Json(nullptr);
  if (!for_hw.is_null()) hint["preprocess_hw"] = for_hw;
  hint["assumed"].push_back(usual.name);
  if (cpu.shape[1] == 3) hint["assumed"].push_back("the order RGB");
  hint["assumed"].push_back(crops ? "that the centre is used" : "that pictures are stretched");
  return hint;
}

}  // namespace millrace::cli
