#include "tests/ranks/models/rank_models.h"

#include <stdexcept>

#include "device/registry.h"

namespace millrace::test {

const std::shared_ptr<device::Device>& device_of_ranks() {
  static const std::shared_ptr<device::Device> device =
      device::open_device("cpu", {.lanes = 4}).value();
  return device;
}

graph::Fallback collective(const char* type, std::vector<graph::Attribute> attributes) {
  return {std::string("com.microsoft.") + type, std::move(attributes)};
}

std::shared_ptr<const graph::CompiledModel> collective_model(const graph::Fallback& op,
                                                             const graph::Dims& dims) {
  ModelBuilder builder;
  builder.begin_partition(graph::PartitionKind::kCollective);
  builder.output(builder.fallback(op, {builder.input(dims)})[0]);
  return builder.build();
}

Programs load_on_ranks(
    const ranks::Group& group,
    const std::function<std::shared_ptr<const graph::CompiledModel>(uint32_t rank)>& model) {
  Programs programs;
  for (uint32_t rank = 0; rank < group.size(); ++rank) {
    auto program = device_of_ranks()->load_for_rank(model(rank), group[rank]);
    if (!program.ok()) throw std::runtime_error(program.status().to_string());
    programs.push_back(*std::move(program));
  }
  return programs;
}

std::vector<Tensor> run_on_ranks(const ranks::Group& group, const Programs& programs,
                                 const std::function<std::vector<Tensor>(uint32_t rank)>& inputs) {
  std::vector<Tensor> outputs(group.size());
  ranks::on_each_rank(group, [&](ranks::Communicator& communicator) {
    const uint32_t rank = communicator.rank();
    outputs[rank] = device::cpu::run(*programs[rank], inputs(rank))[0];
  });
  return outputs;
}

}  // namespace millrace::test
