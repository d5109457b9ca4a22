#include "tests/lowering/passes/interpreter.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <random>

#include "fallback/evaluate.h"
#include "graph/shape.h"
#include "lowering/evaluate/evaluate.h"
#include "lowering/evaluate/evaluate_fallback.h"
#include "tensor/half.h"
#include "tensor/visit_element.h"

namespace millrace::lowering {
namespace {

using graph::Dims;
using graph::Value;
using Floats = std::vector<float>;
using Operands = std::span<const Value* const>;

Floats floats(const Value& value) {
  Floats result;
  switch (value.type) {
    case tensor::DataType::kBf16:
      for (uint16_t half : value.constant->as<uint16_t>()) {
        result.push_back(tensor::bf16_to_float(half));
      }
      return result;
    case tensor::DataType::kFp16:
      for (uint16_t half : value.constant->as<uint16_t>()) {
        result.push_back(tensor::fp16_to_float(half));
      }
      return result;
    default:
      (void)tensor::visit_element(value.type, [&](auto zero) -> Status {
        for (const auto element : value.constant->as<decltype(zero)>())
          result.push_back(static_cast<float>(element));
        return {};
      });
      return result;
  }
}

Value make_value(Dims shape, const Floats& elements) {
  return {"", tensor::DataType::kFloat32, std::move(shape), graph::Constant::of(elements)};
}

float activate(const graph::Activation& function, float x) {
  const Value in = make_value({1}, {x});
  const Value* operands[] = {&in};
  return evaluate(graph::Unary{function}, operands)->constant->as<float>()[0];
}

// Two spatial dimensions.
struct Image {
  Floats data;
  int64_t n, c, h, w;
  explicit Image(const Value& value)
      : data(floats(value)),
        n(value.shape[0]),
        c(value.shape[1]),
        h(value.shape[2]),
        w(value.shape[3]) {}
  bool inside(int64_t y, int64_t x) const { return y >= 0 && y < h && x >= 0 && x < w; }
  float at(int64_t b, int64_t k, int64_t y, int64_t x) const {
    return data[((b * c + k) * h + y) * w + x];
  }
};

// Calls visit(index, image, channel, row, column) for every element of a rank-4 shape.
template <class Visit>
void for_each_pixel(const Dims& shape, Visit&& visit) {
  size_t index = 0;
  for (int64_t n = 0; n < shape[0]; ++n)
    for (int64_t c = 0; c < shape[1]; ++c)
      for (int64_t y = 0; y < shape[2]; ++y)
        for (int64_t x = 0; x < shape[3]; ++x) visit(index++, n, c, y, x);
}

float conv_sum(const graph::Conv& op, const Image& in, const Image& weight, int64_t n, int64_t m,
               int64_t y, int64_t x) {
  const int64_t first = m / (weight.n / op.group) * weight.c;
  double sum = 0;
  for (int64_t c = 0; c < weight.c; ++c)
    for (int64_t i = 0; i < weight.h; ++i)
      for (int64_t j = 0; j < weight.w; ++j) {
        const int64_t row = y * op.strides[0] - op.pads_begin[0] + i * op.dilations[0];
        const int64_t column = x * op.strides[1] - op.pads_begin[1] + j * op.dilations[1];
        if (in.inside(row, column)) sum += in.at(n, first + c, row, column) * weight.at(m, c, i, j);
      }
  return static_cast<float>(sum);
}

Floats compute(const graph::Conv& op, Operands inputs, const Dims& shape) {
  const Image in(*inputs[0]), weight(*inputs[1]);
  const auto optional = [&](size_t i) {
    return i < inputs.size() && inputs[i] != nullptr ? floats(*inputs[i]) : Floats();
  };
  const Floats bias = optional(2), residual = optional(3), slope = optional(4);
  Floats out(Value{"", tensor::DataType::kFloat32, shape, {}}.elements());
  for_each_pixel(shape, [&](size_t i, int64_t n, int64_t m, int64_t y, int64_t x) {
    float value = conv_sum(op, in, weight, n, m, y, x);
    if (!bias.empty()) value += bias[m];
    if (!residual.empty()) value += residual[i];
    if (!slope.empty() && value < 0) value *= slope[m];
    out[i] = activate(op.activation, value);
  });
  return out;
}

struct WindowSum {
  double sum = 0;
  float max = -INFINITY;
  int real = 0;     // elements of the input
  int counted = 0;  // with the padding that counts
};

WindowSum look_through(const graph::Pool& op, const Image& in, int64_t n, int64_t c, int64_t y,
                       int64_t x) {
  WindowSum window;
  for (int64_t i = 0; i < op.kernel[0]; ++i)
    for (int64_t j = 0; j < op.kernel[1]; ++j) {
      const int64_t row = y * op.strides[0] - op.pads_begin[0] + i * op.dilations[0];
      const int64_t column = x * op.strides[1] - op.pads_begin[1] + j * op.dilations[1];
      if (row < in.h + op.pads_end[0] - op.ceil_excess[0] &&
          column < in.w + op.pads_end[1] - op.ceil_excess[1]) {
        ++window.counted;
      }
      if (!in.inside(row, column)) continue;
      ++window.real;
      window.sum += in.at(n, c, row, column);
      window.max = std::max(window.max, in.at(n, c, row, column));
    }
  return window;
}

Floats compute(const graph::Pool& op, Operands inputs, const Dims& shape) {
  const Image in(*inputs[0]);
  Floats out(Value{"", tensor::DataType::kFloat32, shape, {}}.elements());
  for_each_pixel(shape, [&](size_t index, int64_t n, int64_t c, int64_t y, int64_t x) {
    const WindowSum window = look_through(op, in, n, c, y, x);
    const int count = op.count_include_pad ? window.counted : window.real;
    out[index] =
        op.kind == graph::PoolKind::kMax ? window.max : static_cast<float>(window.sum / count);
  });
  return out;
}

Floats compute(const graph::GlobalPool& op, Operands inputs, const Dims& shape) {
  const Floats in = floats(*inputs[0]);
  Floats out(static_cast<size_t>(shape[0] * shape[1]));
  const size_t area = in.size() / out.size();
  for (size_t i = 0; i < out.size(); ++i) {
    const auto begin = in.begin() + static_cast<ptrdiff_t>(i * area);
    const auto end = begin + static_cast<ptrdiff_t>(area);
    double sum = 0;
    for (auto it = begin; it != end; ++it) sum += *it;
    out[i] = op.kind == graph::PoolKind::kMax ? *std::max_element(begin, end)
                                              : static_cast<float>(sum / area);
  }
  return out;
}

Floats compute(const graph::BatchNormalization& op, Operands inputs, const Dims& shape) {
  Floats out = floats(*inputs[0]);
  const Floats scale = floats(*inputs[1]), bias = floats(*inputs[2]), mean = floats(*inputs[3]),
               variance = floats(*inputs[4]);
  const size_t area = out.size() / static_cast<size_t>(shape[0] * shape[1]);
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t c = i / area % static_cast<size_t>(shape[1]);
    out[i] = scale[c] * (out[i] - mean[c]) / std::sqrt(variance[c] + op.epsilon) + bias[c];
  }
  return out;
}

// A Cast to or from a narrow type keeps the numbers here: what it rounds away is the device's.
Floats compute(const graph::Cast&, Operands inputs, const Dims&) {
  return floats(*inputs[0]);
}

// evaluate() takes FLOAT32 operands; weights of BF16 programs are narrower.
Result<Value> evaluate_widened(const graph::MatMul& op, Operands inputs) {
  std::vector<Value> wide(inputs.size());
  std::vector<const Value*> operands(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    wide[i] = make_value(inputs[i]->shape, floats(*inputs[i]));
    operands[i] = &wide[i];
  }
  return evaluate(op, operands);
}

Result<std::vector<Value>> run_fallback(const graph::Fallback& op, Operands inputs,
                                        size_t outputs) {
  const auto views = views_of(inputs);
  MILLRACE_ASSIGN_OR_RETURN(const auto types, fallback::infer_outputs(op, views, outputs));
  return evaluate_fallback(op, views, types);
}

// This overload takes a node with one output.
Result<Value> run_fallback(const graph::Fallback& op, Operands inputs) {
  MILLRACE_ASSIGN_OR_RETURN(auto results, run_fallback(op, inputs, 1));
  return std::move(results[0]);
}

// The integers of `like` for the numbers of `value`.
Result<Value> quantise(const Value& value, const Value& like) {
  const graph::Quantisation& quantisation = *like.quantisation;
  const auto count = static_cast<int64_t>(quantisation.scales.size());
  const Dims shape = quantisation.is_per_axis() ? Dims{count} : Dims{};
  const Value scales = make_value(shape, quantisation.scales);
  const Value zeros =
      make_value(shape, {quantisation.zero_points.begin(), quantisation.zero_points.end()});
  const Value* operands[] = {&zeros};
  MILLRACE_ASSIGN_OR_RETURN(const Value zero_points, evaluate(graph::Cast{like.type}, operands));
  const Value* all[] = {&value, &scales, &zero_points};
  MILLRACE_ASSIGN_OR_RETURN(
      Value result, run_fallback({"QuantizeLinear", {{"axis", int64_t{quantisation.axis}}}}, all));
  result.quantisation = quantisation;
  return result;
}

graph::Fallback as_onnx(const graph::Resize& op) {
  constexpr const char* kCoordinates[] = {"asymmetric", "half_pixel", "pytorch_half_pixel",
                                          "align_corners"};
  constexpr const char* kNearest[] = {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"};
  const bool is_linear = op.mode == graph::ResizeMode::kLinear;
  return {"Resize",
          {{"coordinate_transformation_mode",
            std::string(kCoordinates[static_cast<size_t>(op.coordinates)])},
           {"mode", std::string(is_linear ? "linear" : "nearest")},
           {"nearest_mode", std::string(kNearest[static_cast<size_t>(op.nearest)])}}};
}

struct Compute {
  Operands inputs;

  Result<Value> operator()(const graph::MatMul& op) const { return evaluate_widened(op, inputs); }
  Result<Value> operator()(const graph::Fallback& op) const { return run_fallback(op, inputs); }
  Result<Value> operator()(const graph::Softmax& op) const {
    return run_fallback({op.log ? "LogSoftmax" : "Softmax", {{"axis", op.axis}}}, inputs);
  }

  Result<Value> operator()(const graph::Resize& op) const {
    const Value scales = make_value({static_cast<int64_t>(op.scales.size())}, op.scales);
    const Value* operands[] = {inputs[0], nullptr, &scales};
    return run_fallback(as_onnx(op), operands);
  }

  template <class Op>
  Result<Value> operator()(const Op& op) const {
    if constexpr (requires { compute(op, inputs, Dims()); }) {
      MILLRACE_ASSIGN_OR_RETURN(const graph::ValueType type, graph::infer_output(op, inputs));
      return make_value(type.shape, compute(op, inputs, type.shape));
    } else {
      return evaluate(op, inputs);
    }
  }
};

Floats random_input(size_t elements, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> distribution(-5, 5);
  Floats result(elements);
  for (float& element : result) element = distribution(random);
  return result;
}

// Operators of the graph see the numbers that quantised operands stand for.
Result<Value> run(const graph::Node& node, const std::vector<Value>& values,
                  const graph::Graph& graph) {
  std::deque<Value> numbers;
  std::vector<const Value*> operands;
  const bool computes = graph::computes_numbers(node.op);
  for (graph::ValueId id : node.inputs) {
    operands.push_back(id == graph::kNoValue ? nullptr : &values[id]);
    if (id == graph::kNoValue || !values[id].quantisation || !computes) continue;
    MILLRACE_ASSIGN_OR_RETURN(numbers.emplace_back(),
                              evaluate(graph::Requantise{}, {&operands.back(), 1}));
    operands.back() = &numbers.back();
  }
  MILLRACE_ASSIGN_OR_RETURN(Value result, std::visit(Compute{operands}, node.op));
  const Value& output = graph.values[node.outputs[0]];
  if (!output.quantisation) return result;
  if (computes) return quantise(result, output);
  result.quantisation = output.quantisation;
  return result;
}

}  // namespace

std::vector<float> numbers_of(const Value& constant) {
  return floats(constant);
}

Result<std::vector<Value>> compute_node(const graph::Graph& graph, const graph::Node& node,
                                        const std::vector<Value>& values) {
  if (node.outputs.size() == 1) {
    MILLRACE_ASSIGN_OR_RETURN(Value result, run(node, values, graph));
    return std::vector{std::move(result)};
  }
  std::vector<const Value*> operands;
  for (const graph::ValueId id : node.inputs)
    operands.push_back(id == graph::kNoValue ? nullptr : &values[id]);
  return run_fallback(std::get<graph::Fallback>(node.op), operands, node.outputs.size());
}

Result<std::vector<Floats>> interpret(const graph::Graph& graph) {
  std::vector<Value> values = graph.values;
  for (uint32_t i = 0; i < graph.inputs.size(); ++i) {
    Value& value = values[graph.inputs[i]];
    const Value numbers = make_value(value.shape, random_input(value.elements(), i));
    if (tensor::is_floating(value.type)) {
      value = numbers;
      continue;
    }
    // The same integers, whether they are quantised or not.
    const Value* operands[] = {&numbers};
    MILLRACE_ASSIGN_OR_RETURN(Value integers, evaluate(graph::Cast{value.type}, operands));
    integers.quantisation = value.quantisation;
    value = std::move(integers);
  }
  for (const graph::Node& node : graph.nodes) {
    MILLRACE_ASSIGN_OR_RETURN(values[node.outputs[0]], run(node, values, graph));
  }
  std::vector<Floats> outputs;
  for (graph::ValueId id : graph.outputs) outputs.push_back(floats(values[id]));
  return outputs;
}

}  // namespace millrace::lowering
