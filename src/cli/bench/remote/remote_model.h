// Asks a server of the Open Inference Protocol what a model takes, and writes requests for it.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "cli/bench/remote/connection.h"
#include "graph/compiled_model.h"

namespace millrace::cli {

struct RemoteModel {
  std::string path;                // of its description; that of a request follows from it
  graph::CompiledModel described;  // its name and inputs only, in the CPU view
};

// The most bytes of a description, of which JSON takes many times as many.
inline constexpr uint64_t kMostDescription = 4 << 20;

// The name of a type in the protocol.
std::string_view protocol_type(DataType type);

// The model that an answer of HTTP describes. Errors are those of describe().
Result<RemoteModel> model_of_description(const RemoteAnswer& answer, const std::string& model);

// As describe() and request_text(), over HTTP.
Result<RemoteModel> describe_over_http(const RemoteServer& server, const std::string& model);
std::string http_request_text(const RemoteServer& server, const RemoteModel& model,
                              std::span<const graph::Boundary> inputs,
                              std::span<const std::span<const std::byte>> bytes);

// Asks the server what the model takes. kNotFound if the server has no such model; kUnsupported for
// inputs of texts; kCorruptData if its description is malformed.
Result<RemoteModel> describe(const RemoteServer& server, const std::string& model);

// Returns a request with raw tensors in the form of the server's protocol. `inputs` are those of
// the model, without open dimensions, and `bytes` their elements.
std::string request_text(const RemoteServer& server, const RemoteModel& model,
                         std::span<const graph::Boundary> inputs,
                         std::span<const std::span<const std::byte>> bytes);

// The message of an answer that is no result, or its beginning.
std::string error_of(const RemoteAnswer& answer);

}  // namespace millrace::cli
