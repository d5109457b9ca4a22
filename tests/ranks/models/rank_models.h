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

// The CPU device, with lanes enough for ranks that wait for each other.
const std::shared_ptr<device::Device>& device_of_ranks();

graph::Fallback collective(const char* type, std::vector<graph::Attribute> attributes);

// x [dims] -> the collective -> y, an output.
std::shared_ptr<const graph::CompiledModel> collective_model(const graph::Fallback& op,
                                                             const graph::Dims& dims);

// Programs by rank. A model that must load.
using Programs = std::vector<std::shared_ptr<const device::Program>>;
Programs load_on_ranks(
    const ranks::Group& group,
    const std::function<std::shared_ptr<const graph::CompiledModel>(uint32_t rank)>& model);

// Runs one job on every rank at the same time; the first output by rank.
std::vector<Tensor> run_on_ranks(const ranks::Group& group, const Programs& programs,
                                 const std::function<std::vector<Tensor>(uint32_t rank)>& inputs);

}  // namespace millrace::test
