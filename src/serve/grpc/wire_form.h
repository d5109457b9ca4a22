// The messages as bytes. Requests are parsed here, and not by gRPC, so that what they take is known
// before there is memory for it: an empty input takes two bytes of a message, and 192 when it has
// been parsed. Thread-safe.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>

#include "base/status.h"
#include "open_inference.pb.h"
#include "serve/http/memory_charge.h"

namespace millrace::serve {

// The most fields of a request, those of its parts among them. Elements of tensors in fields of
// their types do not count: their memory, of at most eight times their bytes, is charged. A request
// of as many tensors and parameters as are taken has fewer.
inline constexpr uint32_t kMostFields = 1 << 16;

// Reads a request, whose elements take memory of `charge`, which is to live as long. Errors:
// kInvalidArgument if the bytes are no request, or have more fields; kOutOfMemory if less is left.
Status parse_request(const grpc::ByteBuffer& bytes, MemoryCharge& charge,
                     inference::ModelInferRequest& request);

// The most bytes of a message of a call that is not for inference.
inline constexpr size_t kMostShortBytes = 64 << 10;

// kInvalidArgument if there are more bytes, or they are no such message.
Status read_short_message(const grpc::ByteBuffer& bytes, google::protobuf::Message& message);

// kResourceExhausted for a message that is too long for gRPC.
Status write_message(const google::protobuf::Message& message, grpc::ByteBuffer& bytes);

}  // namespace millrace::serve
