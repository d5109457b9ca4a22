// Models that several ranks run together, the ranks being threads of the test.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"
#include "tests/ranks/group.h"

namespace millrace::test {

using device::cpu::ModelBuilder;
using device::cpu::Tensor;

// Returns the CPU device, with enough lanes for ranks that wait for each other.
const std::shared_ptr<device::Device>& device_of_ranks();

graph::Fallback collective(const char* type, std::vector<graph::Attribute> attributes);

// Makes a model that applies the collective to its input x of shape `dims`.
std::shared_ptr<const graph::CompiledModel> collective_model(const graph::Fallback& op,
                                                             const graph::Dims& dims);

// Loads the model of each rank, which must succeed. Returns the programs by rank.
using Programs = std::vector<std::shared_ptr<const device::Program>>;
Programs load_on_ranks(
    const ranks::Group& group,
    const std::function<std::shared_ptr<const graph::CompiledModel>(uint32_t rank)>& model);

// Runs one job on every rank at the same time. Returns the first output of each rank.
std::vector<Tensor> run_on_ranks(const ranks::Group& group, const Programs& programs,
                                 const std::function<std::vector<Tensor>(uint32_t rank)>& inputs);

}  // namespace millrace::test
