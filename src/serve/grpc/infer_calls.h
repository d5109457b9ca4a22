// The calls that bring inference requests: one in ModelInfer, any number in ModelStreamInfer.
//
// gRPC calls their On... functions on threads of its own, and holds a plain pointer until OnDone();
// Calls owns them for that long. The messages are bytes here (wire_form.h).
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <string_view>

#include "serve/grpc/backend.h"

namespace millrace::serve {

// `name` is that of the call, in static memory.
CallHead head_of(const grpc::CallbackServerContext& context, std::string_view name);

// Begins to answer a call of ModelInfer. The messages live until gRPC is done with the call.
grpc::ServerUnaryReactor* infer_once(Backend& backend, grpc::CallbackServerContext& context,
                                     const grpc::ByteBuffer& request, grpc::ByteBuffer& response);

// The most requests of one stream that are being answered. Beyond it no further one is read, so
// that gRPC's flow control stops the client.
inline constexpr size_t kMostOfStream = 64;

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* infer_stream(
    Backend& backend, grpc::CallbackServerContext& context);

}  // namespace millrace::serve
