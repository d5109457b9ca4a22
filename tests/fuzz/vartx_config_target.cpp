// Configuration texts of VART-X are refused with a reason, or give functions that take any tensor
// of small size and any values.
#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>
#include <vector>

#include "tests/fuzz/target.h"
#include "vart/vart_metaconvert.hpp"
#include "vart/vart_postprocess.hpp"

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

TensorInfo tensor(TensorDataDirection direction, std::vector<uint32_t> shape) {
  TensorInfo info;
  info.shape = std::move(shape);
  info.size = sizeof(float);
  for (const uint32_t dimension : info.shape) info.size *= dimension;
  info.data_type = TensorDataType::FLOAT32;
  info.direction = direction;
  return info;
}

// What a shape of few elements can be, by a byte.
std::vector<uint32_t> shape_of(uint8_t choice) {
  const std::vector<std::vector<uint32_t>> shapes = {{1, 10},       {1, 4, 7},     {1, 16, 6},
                                                     {1, 2, 2, 12}, {1, 12, 2, 2}, {1, 1, 1, 4}};
  return shapes[choice % shapes.size()];
}

std::vector<float> values_of(size_t count, std::string_view text) {
  std::vector<float> values(count, std::numeric_limits<float>::quiet_NaN());
  std::memcpy(values.data(), text.data(), std::min(text.size(), count * sizeof(float)));
  return values;
}

void run(PostProcess& function, uint8_t choice, std::string_view text) {
  std::vector<TensorInfo> infos = {tensor(TensorDataDirection::INPUT, {1, 3, 32, 32}),
                                   tensor(TensorDataDirection::OUTPUT, shape_of(choice))};
  function.set_config(infos, 1);
  std::vector<float> values = values_of(infos[1].size / sizeof(float), text);
  const std::vector<int8_t*> data = {reinterpret_cast<int8_t*>(values.data())};
  const auto root = std::make_shared<InferResult>(InferResultType::ROOT);
  root->add_children(function.process(data, 1).at(0));
  std::string none;
  MetaConvert(InferResultType::ROOT, none, nullptr).prepare_overlay_meta(root);
}

}  // namespace

// Two bytes choose the type and the output, the rest is the text.
void fuzz_one(Input input) {
  if (input.size() < 2) return;
  const auto types = static_cast<uint8_t>(PostProcessType::UNKNOWN) + 1;
  const auto type = static_cast<PostProcessType>(std::to_integer<uint8_t>(input[0]) % types);
  std::string text(text_of(input.subspan(2)));
  try_call([&] { MetaConvert(InferResultType::DETECTION, text, nullptr); });
  try_call([&] {
    PostProcess function(type, text, nullptr);
    run(function, std::to_integer<uint8_t>(input[1]), text);
  });
}

}  // namespace millrace::fuzz
