// The services of gRPC that answer the calls: those of the protocol and its extensions, and one for
// all other calls, which are refused by name. Thread-safe.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/impl/codegen/service_type.h>

#include <memory>

#include "serve/grpc/backend.h"

namespace millrace::serve {

// The backend must outlive the services.
std::unique_ptr<grpc::Service> make_front(Backend& backend);
std::unique_ptr<grpc::CallbackGenericService> make_refuser(Backend& backend);

}  // namespace millrace::serve
