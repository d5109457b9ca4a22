// A group of ranks that are threads of the test.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "ranks/communicator.h"

namespace millrace::ranks {

using Bytes = std::vector<std::byte>;
using Group = std::vector<std::shared_ptr<Communicator>>;  // by rank

Group make_group(uint32_t ranks, std::chrono::nanoseconds timeout = std::chrono::seconds(60));

// Runs body(communicator) on a thread for each rank, and returns when all have returned.
void on_each_rank(const Group& group, const std::function<void(Communicator&)>& body);

}  // namespace millrace::ranks
