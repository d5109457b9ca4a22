#include "bench/nrt/face.h"

#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>

#include "graph/archive/codec.h"
#include "model/archive_writer.h"
#include "tests/support/tiny_model.h"

namespace millrace::bench {
namespace {

nrt_tensor_t* allocate(const nrt_tensor_info_t& info, nrt_tensor_set_t* set) {
  nrt_tensor_t* tensor = nullptr;
  expect_success(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, info.size, info.name, &tensor),
                 "nrt_tensor_allocate");
  expect_success(nrt_add_tensor_to_tensor_set(set, info.name, tensor),
                 "nrt_add_tensor_to_tensor_set");
  return tensor;
}

}  // namespace

void expect_success(NRT_STATUS status, const char* call) {
  if (status != NRT_SUCCESS)
    throw std::runtime_error(std::string(call) + ": " + nrt_get_status_as_str(status));
}

Face::Face(const Variables& environment, const graph::CompiledModel& model)
    : environment_(environment) {
  ::setenv("MILLRACE_NRT_CORES", "1", 1);
  for (const auto& [name, value] : environment_) ::setenv(name.c_str(), value.c_str(), 1);
  expect_success(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), "nrt_init");
  const std::vector<std::byte> bytes = model::archive_bytes(graph::encode(model));
  expect_success(nrt_load(bytes.data(), bytes.size(), 0, 1, &model_), "nrt_load");
  expect_success(nrt_get_model_tensor_info(model_, &info_), "nrt_get_model_tensor_info");
}

Face::~Face() {
  nrt_free_model_tensor_info(info_);
  nrt_close();
  for (const auto& [name, value] : environment_) ::unsetenv(name.c_str());
}

Slot::Slot(const Face& face) : from(face.input().size), to(face.output().size) {
  expect_success(nrt_allocate_tensor_set(&inputs), "nrt_allocate_tensor_set");
  expect_success(nrt_allocate_tensor_set(&outputs), "nrt_allocate_tensor_set");
  input = allocate(face.input(), inputs);
  output = allocate(face.output(), outputs);
}

Slot::~Slot() {
  nrt_tensor_free(&input);
  nrt_tensor_free(&output);
  nrt_destroy_tensor_set(&inputs);
  nrt_destroy_tensor_set(&outputs);
}

graph::CompiledModel tanh_model(uint32_t elements, int operations) {
  graph::CompiledModel model;
  model.name = "tanh";
  model.producer = "bench";
  graph::Graph& graph = model.graph;
  const graph::ValueId input =
      graph.add_value({"x", tensor::DataType::kFloat32, {1, elements}, {}});
  graph::ValueId last = input;
  for (int i = 1; i <= operations; ++i)
    last = test::tiny_unary(graph, i == operations ? "y" : fmt::format("t{}", i),
                            graph::UnaryKind::kTanh, last);
  graph.inputs = {input};
  graph.outputs = {last};
  model.inputs = {test::tiny_boundary(graph, input, {})};
  model.outputs = {test::tiny_boundary(graph, last, {})};
  model.partitions = {{graph::PartitionKind::kNpu, 0, static_cast<uint32_t>(operations)}};
  return model;
}

}  // namespace millrace::bench
