#include "serve/grpc/grpc_status.h"

#include <new>
#include <string>

namespace millrace::serve {
namespace {

grpc::StatusCode grpc_code(unsigned http_status) {
  switch (http_status) {
    case 400:
      return grpc::StatusCode::INVALID_ARGUMENT;
    case 401:
      return grpc::StatusCode::UNAUTHENTICATED;
    case 403:
      return grpc::StatusCode::PERMISSION_DENIED;
    case 404:
      return grpc::StatusCode::NOT_FOUND;
    case 429:
      return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case 501:
      return grpc::StatusCode::UNIMPLEMENTED;
    case 503:
      return grpc::StatusCode::UNAVAILABLE;
    case 504:
      return grpc::StatusCode::DEADLINE_EXCEEDED;
    default:
      return grpc::StatusCode::INTERNAL;
  }
}

// gRPC sends a message in the metadata, of which clients take 8 KiB, with up to three bytes for
// one.
constexpr size_t kLongestMessage = 2 << 10;

// Ends before a character of UTF-8 that would be cut.
std::string shortened(const std::string& message) {
  if (message.size() <= kLongestMessage) return message;
  size_t end = kLongestMessage;
  while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0) == 0x80) --end;
  return message.substr(0, end) + "...";
}

}  // namespace

grpc::Status grpc_status(const RestFailure& failure) {
  return {grpc_code(failure.status), shortened(failure.message)};
}

grpc::Status grpc_status(const std::exception& error) noexcept {
  const bool no_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  try {
    return {no_memory ? grpc::StatusCode::UNAVAILABLE : grpc::StatusCode::INTERNAL,
            no_memory ? "there is not enough memory" : error.what()};
  } catch (const std::exception&) {
    return grpc::Status::CANCELLED;
  }
}

}  // namespace millrace::serve
