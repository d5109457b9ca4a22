// The messages of inference as bytes. Requests are parsed here, and not by gRPC, so that their
// fields are counted before there is memory for them: an empty input takes two bytes of a message,
// and 192 when it has been parsed. Thread-safe.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>

#include "base/status.h"
#include "open_inference.pb.h"

namespace millrace::serve {

// The most fields of a request, those of its parts among them. Elements of tensors in fields of
// their types do not count, since they take at most eight times their bytes. A request of as many
// tensors and parameters as are taken has fewer.
inline constexpr uint32_t kMostFields = 1 << 16;

// kInvalidArgument if the bytes are no request, or have more fields.
Status parse_request(const grpc::ByteBuffer& bytes, inference::ModelInferRequest& request);

// kResourceExhausted for a message that is too long for gRPC.
Status write_message(const google::protobuf::Message& message, grpc::ByteBuffer& bytes);

}  // namespace millrace::serve
