#include "graph/graph.h"

#include <cstring>
#include <new>

namespace millrace::graph {
namespace {

// Constants start on a cache line, as the segments of an archive do.
constexpr std::align_val_t kConstantAlignment{64};

std::shared_ptr<std::byte> allocate_block(size_t bytes) {
  auto* block = static_cast<std::byte*>(::operator new(bytes, kConstantAlignment));
  return {block, [](std::byte* p) { ::operator delete(p, kConstantAlignment); }};
}

}  // namespace

Constant Constant::copy_of(std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  std::shared_ptr<std::byte> block = allocate_block(bytes.size());
  std::memcpy(block.get(), bytes.data(), bytes.size());
  return {{block.get(), bytes.size()}, block};
}

size_t Value::elements() const noexcept {
  size_t count = 1;
  for (int64_t dim : shape) count *= static_cast<size_t>(dim);
  return count;
}

ValueId Graph::add_value(Value value) {
  values.push_back(std::move(value));
  return static_cast<ValueId>(values.size() - 1);
}

ValueId Graph::add_constant(std::string name, tensor::DataType type, Dims shape,
                            Constant constant) {
  return add_value({std::move(name), type, std::move(shape), std::move(constant), {}});
}

std::vector<std::vector<uint32_t>> consumers_of(const Graph& graph) {
  std::vector<std::vector<uint32_t>> consumers(graph.values.size());
  for (uint32_t index = 0; index < graph.nodes.size(); ++index) {
    for (ValueId id : graph.nodes[index].inputs) {
      if (id == kNoValue) continue;
      // Nodes are visited in order, so a node that reads the value twice is the last entry.
      if (consumers[id].empty() || consumers[id].back() != index) consumers[id].push_back(index);
    }
  }
  return consumers;
}

}  // namespace millrace::graph
