// The form that the calls of gRPC have for the handler of the server, which knows the REST half of
// the protocol: a path, a short JSON header, and raw tensors. So both halves have one set of
// checks, limits, messages and metrics. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "open_inference.pb.h"
#include "serve/grpc/call_head.h"
#include "serve/http/message.h"

namespace millrace::serve {

// /v2/models/NAME[/versions/VERSION], with all but letters and digits as percent codes. An empty
// version is none.
std::string model_path(std::string_view name, std::string_view version);

// /v2/repository/models/NAME, in the same way.
std::string repository_path(std::string_view name);
// /v2/systemsharedmemory[/region/NAME], in the same way.
std::string region_path(std::string_view name);

// A request that has no body.
HttpRequest rest_head(std::string path, const CallHead& call);
// A request whose body is JSON. Throws std::bad_alloc.
HttpRequest rest_post(std::string path, std::string_view json, const CallHead& call);
// An inference request before it has its body.
HttpRequest rest_head(const inference::ModelInferRequest& request, const CallHead& call);

// Names, versions and ids of more bytes are refused, so that the texts made of them stay small.
inline constexpr size_t kLongestName = 1 << 10;

// kInvalidArgument if the name or the version of a model is too long.
Status check_names(std::string_view model_name, std::string_view model_version);
// kInvalidArgument if a request has more, or longer, parts than the header of its body may have.
Status check_parts(const inference::ModelInferRequest& request);

// The body: the header and the tensors, typed contents as raw bytes, too.
struct RestBody {
  MemoryBlock bytes;
  size_t json_bytes = 0;    // of the header
  bool is_picture = false;  // the bytes are a picture, without a header
};

// `take` is asked for the bytes of the body before there is memory for them. Errors:
// kInvalidArgument; kOutOfMemory, also if `take` refuses. Requires: check_parts() is fine.
Result<RestBody> rest_body(const inference::ModelInferRequest& request,
                           const std::function<bool(uint64_t)>& take);

// AnswerForm: the facts about a request that its answer depends on.
struct AnswerForm {
  explicit AnswerForm(const inference::ModelInferRequest& request);
  std::string id;    // empty if it is too long
  bool raw = false;  // whether outputs are raw: as the inputs are, or if a parameter says so
};

// An answer that is no result.
struct RestFailure {
  unsigned status = 200;  // of HTTP
  std::string message = {};
  unsigned retry_seconds = 0;  // when to try again; 0: not stated
};

// Fills the response of gRPC, or returns the failure that the answer is.
std::optional<RestFailure> read_answer(const HttpResponse& answer, const AnswerForm& form,
                                       inference::ModelInferResponse& response);

// Returns the failure that an answer without 200 is, or nothing.
std::optional<RestFailure> failure_of(const HttpResponse& answer);

}  // namespace millrace::serve
