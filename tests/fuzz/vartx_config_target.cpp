// Configuration texts of VART-X are refused with a reason, or give functions that take any picture
// and any tensor of small size, with any values, and whose results can be drawn.
#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "tests/fuzz/target.h"
#include "vart/vart_metaconvert.hpp"
#include "vart/vart_overlay.hpp"
#include "vart/vart_postprocess.hpp"
#include "vart/vart_preprocess.hpp"
#include "vart/vart_videoframe.hpp"

namespace millrace::fuzz {
namespace {

using namespace ::vart;

// Calls what may refuse its input, and expects a reason when it does.
template <class Call>
void try_call(Call call) {
  try {
    call();
  } catch (const std::exception& error) {
    expect(*error.what() != '\0', "a reason");
  }
}

TensorInfo tensor(TensorDataDirection direction, TensorDataType type, std::vector<uint32_t> shape) {
  TensorInfo info;
  info.shape = std::move(shape);
  info.size = type == TensorDataType::INT8 ? 1 : type == TensorDataType::FLOAT32 ? 4 : 2;
  for (const uint32_t dimension : info.shape) info.size *= dimension;
  info.data_type = type;
  info.direction = direction;
  return info;
}

// Descriptions of a model's tensors, which have few elements; a byte chooses their shapes and type.
std::vector<TensorInfo> tensors_of(uint8_t choice) {
  constexpr TensorDataType kTypes[] = {TensorDataType::FLOAT32, TensorDataType::INT8,
                                       TensorDataType::BF16, TensorDataType::FP16};
  const std::vector<std::vector<std::vector<uint32_t>>> outputs = {
      {{1, 10}},       {{1, 4, 7}},    {{1, 16, 6}},      {{1, 2, 2, 12}},
      {{1, 12, 2, 2}}, {{1, 1, 1, 4}}, {{1, 3, 1, 1, 4}}, {{1, 16, 4}, {1, 16, 6}}};
  std::vector<TensorInfo> infos = {
      tensor(TensorDataDirection::INPUT, TensorDataType::FLOAT32, {1, 3, 32, 32})};
  for (const std::vector<uint32_t>& shape : outputs[choice % outputs.size()])
    infos.push_back(
        tensor(TensorDataDirection::OUTPUT, kTypes[choice / outputs.size() % 4], shape));
  return infos;
}

// Returns `count` bytes: those of the text, then bytes of all ones, which are NaN in most types.
std::vector<uint8_t> bytes_of(size_t count, std::string_view text) {
  std::vector<uint8_t> bytes(count, 0xff);
  std::ranges::copy(text.substr(0, count), bytes.begin());
  return bytes;
}

VideoFrame make_frame(VideoInfo info, std::string_view text) {
  size_t bytes = 0;
  for (uint32_t plane = 0; plane < info.n_planes; ++plane)
    bytes += info.stride[plane] * info.elevation[plane];
  VideoFrame frame(VideoFrameImplType::XRT, bytes, 0, info, nullptr);
  std::ranges::copy(bytes_of(bytes, text), frame.map(DataMapFlags::WRITE).planes[0].data);
  frame.unmap();
  return frame;
}

void preprocess(uint8_t choice, std::string text) {
  constexpr VideoFormat kInputs[] = {VideoFormat::BGR, VideoFormat::RGBx, VideoFormat::Y_UV8_420,
                                     VideoFormat::GRAY8, VideoFormat::RGBP};
  PreProcess function(PreProcessImplType::IMAGE_PROCESSING_SW, text, nullptr);
  PreProcessInfo info = function.get_preprocess_info();
  info.width = 5;
  info.height = 3;
  if (info.colour_format == VideoFormat::UNKNOWN) info.colour_format = VideoFormat::RGBx_BF16;
  function.set_preprocess_info(info);
  VideoInfo input;
  function.get_input_vinfo(8, 12, kInputs[choice % std::size(kInputs)], input);
  VideoFrame in = make_frame(input, text), out = make_frame(function.get_output_vinfo(), text);
  std::vector<PreProcessOp> operations(1);
  operations[0].in_frame = &in;
  operations[0].out_frame = &out;
  std::vector<PreProcessOpRes> results;
  function.process(operations, results);
  expect(results.at(0).type_meta.scale_x > 0, "a geometry");
}

void draw(const std::shared_ptr<InferResult>& root, MetaConvert& convert) {
  std::string none;
  VideoInfo info;
  PreProcess(PreProcessImplType::IMAGE_PROCESSING_SW, none, nullptr)
      .get_input_vinfo(12, 16, VideoFormat::BGR, info);
  VideoFrame frame = make_frame(info, {});
  Overlay(OverlayImplType::OPENCV, nullptr)
      .draw_overlay(frame, *convert.prepare_overlay_meta(root));
}

// Results as they are, and moved to a frame by any geometry.
void draw_both_ways(const std::shared_ptr<InferResult>& root, std::string_view text) {
  InferResScaleInfo scale;
  const std::vector<uint8_t> bytes = bytes_of(sizeof scale, text);
  std::memcpy(&scale, bytes.data(), sizeof scale);
  std::string none;
  MetaConvert convert(InferResultType::ROOT, none, nullptr);
  draw(root, convert);
  for (const std::shared_ptr<InferResult>& child : root->get_children()) child->transform(scale);
  draw(root, convert);
}

void postprocess(PostProcessType type, uint8_t choice, std::string text) {
  PostProcess function(type, text, nullptr);
  std::vector<TensorInfo> infos = tensors_of(choice);
  function.set_config(infos, 1);
  std::vector<std::vector<uint8_t>> outputs;
  for (size_t i = 1; i < infos.size(); ++i) outputs.push_back(bytes_of(infos[i].size, text));
  std::vector<int8_t*> data;
  for (std::vector<uint8_t>& output : outputs)
    data.push_back(reinterpret_cast<int8_t*>(output.data()));
  const auto root = std::make_shared<InferResult>(InferResultType::ROOT);
  root->add_children(function.process(data, 1).at(0));
  draw_both_ways(root, text);
}

// A result of each kind, drawn as the text says.
void metaconvert(std::string text) {
  MetaConvert convert(InferResultType::DETECTION, text, nullptr);
  const auto root = std::make_shared<InferResult>(InferResultType::ROOT);
  for (const auto type : {InferResultType::CLASSIFICATION, InferResultType::DETECTION})
    root->add_child(std::make_shared<InferResult>(type));
  auto& box = static_cast<DetectionResData&>(*root->get_children()[1]->get_infer_result());
  box.width = box.height = 7;
  box.label = "label";
  draw(root, convert);
}

}  // namespace

// Two bytes choose the type and the tensors or frames, the rest is the text.
void fuzz_one(Input input) {
  if (input.size() < 2) return;
  const auto types = static_cast<uint8_t>(PostProcessType::UNKNOWN) + 1;
  const auto type = static_cast<PostProcessType>(std::to_integer<uint8_t>(input[0]) % types);
  const auto choice = std::to_integer<uint8_t>(input[1]);
  const std::string text(text_of(input.subspan(2)));
  try_call([&] { metaconvert(text); });
  try_call([&] { preprocess(choice, text); });
  try_call([&] { postprocess(type, choice, text); });
}

}  // namespace millrace::fuzz
