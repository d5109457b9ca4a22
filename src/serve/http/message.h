// Requests and responses as the handler of a server sees them, and the interface between the two.
// Nothing here depends on the HTTP library.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/http/memory_block.h"

namespace millrace::serve {

using Fields = std::vector<std::pair<std::string, std::string>>;

// Where a request comes from.
struct Origin {
  std::string remote;               // address and port; empty: not known
  std::string_view grpc_call = {};  // name of the call, of static memory; empty: HTTP
  std::string request_id = {};      // of gRPC, where it is not in the body
};

struct HttpRequest {
  Origin origin = {};
  std::string method, target;
  Fields fields;
  MemoryBlock body;  // the byte behind the JSON header of the binary data extension is aligned
  std::chrono::steady_clock::time_point arrival;  // when the header was complete
  // Reserves memory for an answer of this size in bytes; if null, the sender reserves it.
  std::function<bool(uint64_t)> take_answer = {};

  // Returns the value of the first field with that name, in letters of any case.
  std::optional<std::string_view> field(std::string_view name) const;
  std::string_view text() const {
    return {reinterpret_cast<const char*>(body.data()), body.size()};
  }
};

// How long an inference request waited for its job to begin, and how long that ran.
struct JobTimes {
  std::chrono::nanoseconds queued{}, computed{};
};

struct HttpResponse {
  unsigned status = 200;
  std::string content_type = "application/json";
  Fields fields = {};
  std::string text = {};                             // the first part of the body
  std::vector<std::span<const std::byte>> raw = {};  // the other parts
  std::shared_ptr<const void> owner = {};            // of the memory of `raw`
  std::string request_id = {};         // of an inference request; empty: none, or not read
  size_t held_bytes = 0;               // memory that the owner keeps, if that is more than `raw`
  std::optional<JobTimes> times = {};  // nothing if no job ran for the request
};

// The number of bytes of the body.
size_t body_size(const HttpResponse& response);

// Sends the response to a request. It is called once for each request, on any thread.
using Respond = std::function<void(HttpResponse)>;

// The work for a request that has not been answered.
class Work {
 public:
  virtual ~Work() = default;
  // The client is gone: ends the work as soon as possible. The request must still be answered.
  // Thread-safe, and does nothing once the work has ended.
  virtual void cancel() noexcept = 0;
};

// The name of the field that says how many bytes of a body are JSON, in both directions.
inline constexpr std::string_view kJsonLengthField = "Inference-Header-Content-Length";

// A handler answers requests. Thread-safe.
class Handler {
 public:
  virtual ~Handler() = default;
  // Looks at a request whose body has not been read. A response refuses it, and the body never is.
  virtual std::optional<HttpResponse> refuse(const HttpRequest& head) = 0;
  // Counts a request that the server refused itself, because it exceeds a limit or is not HTTP.
  // `head` is empty if the header was not read.
  virtual void refused(const HttpRequest& head, unsigned status) noexcept = 0;
  // Whether handle() may take long, so that a worker is to call it. `json_bytes`: of the body.
  virtual bool takes_long(const HttpRequest& request, size_t json_bytes) const = 0;
  // Begins to answer a request. `respond` is called once, during the call or later. Returns the
  // work that goes on after the call; null if there is none. Does not throw, unless `respond` does.
  virtual std::shared_ptr<Work> handle(HttpRequest request, Respond respond) = 0;
};

// Returns the protocol's answer for what went wrong: {"error": message}.
HttpResponse error_response(unsigned status, std::string_view message);

// Returns the answer when something threw: 503 if there was no memory, otherwise 500. Without a
// body if there is no memory for one either.
HttpResponse response_of(const std::exception& error) noexcept;

}  // namespace millrace::serve
