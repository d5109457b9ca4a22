// An inference request that has been checked against its model: the memory, type and shape of each
// input, and the form of each output. Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "millrace/execution.hpp"
#include "millrace/model.hpp"
#include "millrace/tensor.hpp"
#include "serve/http/memory_block.h"
#include "serve/http/message.h"
#include "serve/shared_memory/shared_regions.h"

namespace millrace::serve {

struct InputTensor {
  std::span<const std::byte> bytes;  // of all frames
  MemoryBlock own;                   // holds `bytes`, unless they lie in the body of the request
  TensorShape shape;                 // as the request states it
};

// Where a request may refer to memory that it does not bring along.
struct RegionMemory {
  const SharedRegions* regions = nullptr;     // null: the extension is not offered
  std::function<bool(uint64_t)> take_memory;  // asked for the copies of inputs
  uint64_t most_bytes = 0;                    // of one of them
};

struct WantedOutput {
  size_t index = 0;  // among the outputs of the model
  bool binary = false;
  uint32_t classes = 0;                 // number of highest classes to return; 0: all elements
  std::optional<RegionPart> part = {};  // of shared memory, to which it is written
};

struct InferRequest {
  MemoryBlock body;
  std::string id;
  std::vector<InputTensor> inputs;  // in the order of the model
  std::vector<WantedOutput> outputs;
  uint32_t frames = 1;
  Deadline deadline = kNoDeadline;
  uint64_t copied_bytes = 0;                // of raw inputs that were not aligned in the body
  std::shared_ptr<const void> charge = {};  // for the memory of the body, if there is one
  std::chrono::nanoseconds reading{};       // the time that this took
};

// Reads the body of `request`, which is JSON, or JSON with raw tensors after it, or a raw tensor
// alone. kInvalidArgument: the request is not one for this model; the message says why.
// kOutOfMemory.
Result<InferRequest> read_infer_request(HttpRequest request, const Model& model,
                                        const RegionMemory& shared = {});

// Reads the deadline that the field X-Request-Timeout states, as 250ms or 2s, from `arrival` on;
// a number alone counts seconds. kNoDeadline if there is none; kInvalidArgument for other texts.
Result<Deadline> deadline_of_field(const HttpRequest& request);

}  // namespace millrace::serve
