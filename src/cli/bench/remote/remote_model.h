// Asks a server of the Open Inference Protocol what a model takes, and writes requests for it.
// Thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/status.h"
#include "cli/bench/remote/connection.h"
#include "graph/compiled_model.h"

namespace millrace::cli {

struct RemoteModel {
  std::string path;                // of its description; that of a request follows from it
  graph::CompiledModel described;  // its name and inputs only, in the CPU view
};

// Asks the server what the model takes. kNotFound if the server has no such model; kUnsupported for
// inputs of texts; kCorruptData if its description is malformed.
Result<RemoteModel> describe(const RemoteServer& server, const std::string& model);

// Returns the text of a request with raw tensors. `inputs` are those of the model, without open
// dimensions, and `bytes` their elements.
std::string request_text(const RemoteServer& server, const RemoteModel& model,
                         std::span<const graph::Boundary> inputs,
                         std::span<const std::span<const std::byte>> bytes);

// The message of an answer that is no result, or its beginning.
std::string error_of(const RemoteAnswer& answer);

}  // namespace millrace::cli
