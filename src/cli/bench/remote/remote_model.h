// The request that a load generator sends to a server of the Open Inference Protocol. Thread-safe.
#pragma once

#include <string>

#include "base/status.h"
#include "cli/bench/remote/connection.h"

namespace millrace::cli {

// Asks the server what the model takes, and returns the text of a request for it with random
// elements, as raw bytes; dimensions that requests choose are 1. kNotFound if the server has no
// such model; kUnsupported for inputs of texts; kCorruptData if its description is malformed.
Result<std::string> request_for(const RemoteServer& server, const std::string& model);

// The message of an answer that is no result, or its beginning.
std::string error_of(const RemoteAnswer& answer);

}  // namespace millrace::cli
