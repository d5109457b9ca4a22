// Networks made by hand, and their runs on the device "cpu" as a lane runs them.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/registry.h"
#include "graph/network/network.h"
#include "runtime/dynamic/dynamic_program.h"

namespace millrace::test {

using Inputs = std::vector<std::string>;

network::Node node(std::string type, Inputs inputs, Inputs outputs,
                   std::vector<network::Attribute> attributes = {});
network::Attribute attribute(std::string name, network::Attribute::Value value);
network::Attribute subgraph(std::string name, network::Network body);

// An input whose dimensions are open where they are -1.
network::Input input(std::string name, tensor::DataType type, graph::Dims shape);
// An output about which nothing is stated but its type.
network::Output output(std::string name, tensor::DataType type);

network::Network network_of(std::vector<network::Input> inputs, std::vector<network::Node> nodes,
                            std::vector<network::Output> outputs);
// The same as the subgraph of a node: it reads `captures` of the networks around it.
network::Network body_of(std::vector<network::Input> inputs, std::vector<network::Node> nodes,
                         std::vector<network::Output> outputs, Inputs captures = {});

struct Tensor {
  tensor::DataType type = tensor::DataType::kUnknown;
  graph::Dims shape;
  std::vector<std::byte> bytes;

  template <class T>
  std::vector<T> as() const {
    std::vector<T> elements(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(elements.data(), bytes.data(), bytes.size());
    return elements;
  }
};

Tensor floats(graph::Dims shape, const std::vector<float>& elements);
Tensor int64s(graph::Dims shape, const std::vector<int64_t>& elements);
Tensor boolean(bool element);

// An initializer.
graph::Value constant(std::string name, const Tensor& tensor);

// A model whose boundary leaves every dimension open that its network leaves open, and those of all
// outputs.
graph::CompiledModel model_of(network::Network network);

// A program, and one context of it.
class Runner {
 public:
  explicit Runner(network::Network network);

  // The status of load_dynamic().
  const Status& loaded() const { return loaded_; }
  const device::Program& program() const { return *program_; }
  runtime::PlanCounters counters() const { return runtime::plan_counters(*program_); }

  // The outputs; each has memory of `capacity` bytes.
  Result<std::vector<Tensor>> run(std::vector<Tensor> inputs, size_t capacity = 4096);
  // Like run(), and the job is to stop by `deadline`.
  Result<std::vector<Tensor>> run_until(Deadline deadline, std::vector<Tensor> inputs,
                                        size_t capacity = 4096);
  // The shapes that the last run stated.
  const std::vector<TensorShape>& stated_shapes() const { return shapes_; }

 private:
  std::shared_ptr<device::Device> device_;
  std::shared_ptr<const device::Program> program_;
  Status loaded_;
  std::unique_ptr<device::Context> context_;
  std::vector<TensorShape> shapes_;
};

}  // namespace millrace::test
