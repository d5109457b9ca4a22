#include "tests/graph/dynamic_model.h"

#include <string>
#include <utility>
#include <vector>

namespace millrace::test {
namespace {

using network::Network;
using tensor::DataType;

graph::Value constant(std::string name, const std::vector<int64_t>& elements) {
  return {std::move(name),
          DataType::kInt64,
          {static_cast<int64_t>(elements.size())},
          graph::Constant::of(elements)};
}

network::Input declared(std::string name, DataType type, std::vector<network::Dimension> shape) {
  return {std::move(name), type, true, std::move(shape)};
}

// Reads its parameter, and "scores" of the model.
Network innermost_branch(const Network& model) {
  Network branch;
  branch.opsets = model.opsets;
  branch.initializers = {constant("one", {1})};
  branch.nodes = {{.name = "deep",
                   .domain = "",
                   .type = "Add",
                   .inputs = {"scores", "one"},
                   .outputs = {"deep.out"},
                   .attributes = {}}};
  branch.outputs = {{"deep.out"}};
  branch.captures = {"scores"};
  return branch;
}

Network body(const Network& model) {
  Network body;
  body.opsets = model.opsets;
  body.inputs = {
      declared("i", DataType::kInt64, {}), {"condition", DataType::kBoolean}, {"carried"}};
  network::Node choice{.name = "if",
                       .domain = "",
                       .type = "If",
                       .inputs = {"condition"},
                       .outputs = {"chosen"},
                       .attributes = {}};
  const auto branch = std::make_shared<const Network>(innermost_branch(model));
  choice.attributes = {{"then_branch", branch}, {"else_branch", branch}};
  body.nodes = {choice};
  // An outer value, and one of its own.
  body.outputs = {{"condition"}, {"chosen"}, {"bounds"}};
  body.captures = {"bounds", "scores"};
  return body;
}

network::Node node_of_every_attribute() {
  return {.name = "every kind",
          .domain = "com.example",
          .type = "EveryKind",
          .inputs = {"", "anything"},
          .outputs = {"", "scores"},
          .attributes = {{"an_integer", int64_t{-1} << 40},
                         {"a_float", 0.1f},
                         {"a_text", std::string("\xc3\xa9t\xc3\xa9")},
                         {"integers", graph::Dims{3, -1}},
                         {"floats", std::vector<float>{}},
                         {"texts", std::vector<std::string>{"", "two"}},
                         {"a_tensor", constant("", {7, 8, 9})}}};
}

}  // namespace

Network dynamic_network() {
  Network model;
  model.opsets = {{"", 17}, {"com.example", 1}};
  model.inputs = {declared("image", DataType::kFloat32, {{1, ""}, {3, ""}, {-1, "h"}, {-1, "w"}}),
                  {"anything", DataType::kInt64},
                  declared("flag", DataType::kBoolean, {})};
  model.initializers = {constant("bounds", {4, 5}), constant("nothing", {})};
  network::Node loop{.name = "loop",
                     .domain = "",
                     .type = "Loop",
                     .inputs = {"", "flag", "scores"},
                     .outputs = {"looped", "gathered"},
                     .attributes = {}};
  loop.attributes = {{"body", std::make_shared<const Network>(body(model))}};
  network::Node last{.name = "",
                     .domain = "",
                     .type = "Relu",
                     .inputs = {"image"},
                     .outputs = {"y"},
                     .attributes = {}};
  model.nodes = {node_of_every_attribute(), loop, last};
  model.outputs = {declared("y", DataType::kFloat32, {{-1, "n"}, {3, ""}}),
                   {"looped", DataType::kInt64}};
  return model;
}

graph::CompiledModel dynamic_model() {
  return dynamic_model(dynamic_network());
}

graph::CompiledModel dynamic_model(Network network) {
  graph::CompiledModel model;
  model.name = "open shapes";
  model.producer = "tests 1.0";
  model.batch_size = 2;
  const auto boundary = [](const char* name, DataType type, std::vector<uint32_t> shape,
                           bool open) {
    graph::Boundary made;
    made.cpu = tensor::make_cpu_desc(name, type, std::move(shape));
    made.open = open;
    return made;
  };
  constexpr uint32_t kOpen = kOpenDimension;
  model.inputs = {boundary("image", DataType::kFloat32, {1, 3, kOpen, 64}, true),
                  boundary("anything", DataType::kInt64, {}, true),
                  boundary("flag", DataType::kBoolean, {}, false)};
  model.outputs = {boundary("y", DataType::kFloat32, {1, 3, kOpen, kOpen}, true),
                   boundary("looped", DataType::kInt64, {2}, false)};
  model.network = std::make_shared<const Network>(std::move(network));
  model.cpu_operators = {"Relu", "every kind"};
  model.profiles = {{"small", {{1, 3, 32, 64}, {2}, {}}}, {"large", {{1, 3, 64, 64}, {}, {}}}};
  return model;
}

}  // namespace millrace::test
