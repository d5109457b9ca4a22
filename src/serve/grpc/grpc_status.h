// The status of gRPC for a status of HTTP. Thread-safe.
#pragma once

#include <grpcpp/support/status.h>

#include "serve/grpc/rest_form.h"

namespace millrace::serve {

grpc::Status grpc_status(const RestFailure& failure);

// The status when something threw: UNAVAILABLE if there was no memory, otherwise INTERNAL.
grpc::Status grpc_status(const std::exception& error) noexcept;

}  // namespace millrace::serve
