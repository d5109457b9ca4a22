#include "bench/vart/large_frame.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <any>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "bench/median.h"
#include "bench/vart/loaded_model.h"
#include "tests/support/temporary_directory.h"

namespace millrace::bench {
namespace {

constexpr int64_t kWidth = 3840, kHeight = 2160, kChannels = 3;
constexpr int64_t kSide = 224, kWindow = 8;  // of the region, and of the pooling
// A power of two and no zero point: the form of the board, so that nothing is requantised.
constexpr float kScale = 1.0f / 128;

using ElementType = onnx::TensorProto::DataType;

void declare(onnx::ValueInfoProto* value, const std::string& name, ElementType element,
             std::initializer_list<int64_t> shape) {
  value->set_name(name);
  onnx::TypeProto_Tensor* type = value->mutable_type()->mutable_tensor_type();
  type->set_elem_type(element);
  for (const int64_t dimension : shape) type->mutable_shape()->add_dim()->set_dim_value(dimension);
}

onnx::NodeProto* add_node(onnx::GraphProto* graph, const std::string& type,
                          const std::vector<std::string>& inputs, const std::string& output) {
  onnx::NodeProto* node = graph->add_node();
  node->set_name(output);
  node->set_op_type(type);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return node;
}

void set_ints(onnx::NodeProto* node, const std::string& name,
              std::initializer_list<int64_t> values) {
  onnx::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INTS);
  for (const int64_t value : values) attribute->add_ints(value);
}

void add_integers(onnx::GraphProto* graph, const std::string& name,
                  std::initializer_list<int64_t> values) {
  onnx::TensorProto* tensor = graph->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::INT64);
  tensor->add_dims(static_cast<int64_t>(values.size()));
  for (const int64_t value : values) tensor->add_int64_data(value);
}

void add_scale(onnx::GraphProto* graph, ElementType quantised) {
  onnx::TensorProto* scale = graph->add_initializer();
  scale->set_name("scale");
  scale->set_data_type(onnx::TensorProto::FLOAT);
  scale->add_float_data(kScale);
  onnx::TensorProto* zero = graph->add_initializer();
  zero->set_name("zero");
  zero->set_data_type(quantised);
  zero->add_int32_data(0);
}

// Adds the Slice of the region in the middle of a frame, whose rows lie along the first of `axes`.
void add_slice(onnx::GraphProto* graph, const std::string& frame,
               std::initializer_list<int64_t> axes, const std::string& region) {
  constexpr int64_t kTop = (kHeight - kSide) / 2, kLeft = (kWidth - kSide) / 2;
  add_integers(graph, "begin", {kTop, kLeft});
  add_integers(graph, "end", {kTop + kSide, kLeft + kSide});
  add_integers(graph, "axes", axes);
  add_node(graph, "Slice", {frame, "begin", "end", "axes"}, region);
}

// region -> MaxPool -> quantised, which is the output
std::string pooled(onnx::ModelProto model, const std::string& region) {
  model.set_ir_version(7);
  model.add_opset_import()->set_version(13);
  onnx::GraphProto* graph = model.mutable_graph();
  graph->set_name("region");
  onnx::NodeProto* pooling = add_node(graph, "MaxPool", {region}, "largest");
  set_ints(pooling, "kernel_shape", {kWindow, kWindow});
  set_ints(pooling, "strides", {kWindow, kWindow});
  add_node(graph, "QuantizeLinear", {"largest", "scale", "zero"}, "pooled_integers");
  add_node(graph, "DequantizeLinear", {"pooled_integers", "scale", "zero"}, "pooled");
  declare(graph->add_output(), "pooled", onnx::TensorProto::FLOAT,
          {1, kChannels, kSide / kWindow, kSide / kWindow});
  return model.SerializeAsString();
}

// frame, in UINT8 and channels innermost, as cameras have it -> Slice -> numbers -> channels
// outermost -> pooled()
std::string camera_network() {
  onnx::ModelProto model;
  onnx::GraphProto* graph = model.mutable_graph();
  declare(graph->add_input(), "frame", onnx::TensorProto::UINT8, {kHeight, kWidth, kChannels});
  add_scale(graph, onnx::TensorProto::UINT8);
  add_slice(graph, "frame", {0, 1}, "part");
  add_node(graph, "DequantizeLinear", {"part", "scale", "zero"}, "numbers");
  set_ints(add_node(graph, "Transpose", {"numbers"}, "planes"), "perm", {2, 0, 1});
  add_integers(graph, "batch", {0});
  add_node(graph, "Unsqueeze", {"planes", "batch"}, "region");
  return pooled(std::move(model), "region");
}

// frame -> quantised to INT8 -> Slice -> pooled()
std::string quantised_network() {
  onnx::ModelProto model;
  onnx::GraphProto* graph = model.mutable_graph();
  declare(graph->add_input(), "frame", onnx::TensorProto::FLOAT, {1, kChannels, kHeight, kWidth});
  add_scale(graph, onnx::TensorProto::INT8);
  add_node(graph, "QuantizeLinear", {"frame", "scale", "zero"}, "integers");
  add_node(graph, "DequantizeLinear", {"integers", "scale", "zero"}, "numbers");
  add_slice(graph, "numbers", {2, 3}, "region");
  return pooled(std::move(model), "region");
}

std::string write_network(const std::string& network, const test::TemporaryDirectory& directory) {
  const std::string path = directory.file("region.onnx");
  std::ofstream(path, std::ios::binary) << network;
  return path;
}

Tensors allocate_input(const vart::Runner& runner, vart::TensorType view) {
  const auto& infos = runner.get_tensors_info(vart::TensorDirection::INPUT, view);
  return {{runner.allocate_npu_tensor(infos[0])}};
}

double milliseconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

size_t converted_bytes(const vart::Runner& runner) {
  return std::any_cast<size_t>(runner.get_property("converted_bytes"));
}

struct Mode {
  const char* name;
  std::function<void()> frame;
  size_t copied_bytes;  // by the program
  std::vector<double> milliseconds = {};
  size_t converted_bytes = 0;  // by the runner, in one frame
};

void report_network(const char* frame_type, const std::string& network) {
  const test::TemporaryDirectory directory;
  const CompiledArchive archive(write_network(network, directory));
  const std::shared_ptr<vart::Runner> runner = make_runner(archive.path(), "cpu");
  const Tensors frame = allocate_input(*runner, vart::TensorType::HW);
  const Tensors shared = through_descriptors(frame);
  Tensors own = allocate_input(*runner, vart::TensorType::HW);
  const Tensors declared = allocate_input(*runner, vart::TensorType::CPU);
  Tensors outputs = allocate(*runner, vart::TensorDirection::OUTPUT);
  const size_t bytes = frame[0][0].get_info().size_in_bytes;
  const auto execute = [&](const Tensors& inputs) {
    expect_success(runner->execute(inputs, outputs));
  };
  std::vector<Mode> modes = {{"zero-copy", [&] { execute(shared); }, 0},
                             {"copied",
                              [&] {
                                std::memcpy(own[0][0].get_virtual_address(),
                                            frame[0][0].get_virtual_address(), bytes);
                                execute(own);
                              },
                              bytes}};
  if (declared[0][0].get_info().size_in_bytes != bytes)
    modes.push_back({"converted", [&] { execute(declared); }, 0});
  for (Mode& mode : modes) {
    const size_t before = converted_bytes(*runner);
    mode.frame();
    mode.converted_bytes = converted_bytes(*runner) - before;
  }
  constexpr int kFrames = 60;
  for (int i = 0; i < kFrames; ++i)
    for (Mode& mode : modes) mode.milliseconds.push_back(milliseconds_of(mode.frame));

  fmt::print("a frame of {}x{}, {}, of which a network takes {}x{}; medians of {} frames\n", kWidth,
             kHeight, frame_type, kSide, kSide, kFrames);
  const double zero_copy = median(modes[0].milliseconds);
  for (const Mode& mode : modes) {
    const double each = median(mode.milliseconds);
    fmt::print("  {:<10}{:>8.2f} ms, {:>6.2f} times zero-copy, {:>10} bytes copied or converted\n",
               mode.name, each, each / zero_copy, mode.copied_bytes + mode.converted_bytes);
  }
}

}  // namespace

void report_large_frame() {
  report_network("UINT8, channels innermost", camera_network());
  report_network("INT8", quantised_network());
}

}  // namespace millrace::bench
