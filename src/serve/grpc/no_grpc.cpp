// GrpcServer in a build without gRPC.
#include "serve/grpc/grpc_server.h"

namespace millrace::serve {

class GrpcServer::Impl {};

Result<std::unique_ptr<GrpcServer>> GrpcServer::start(const std::string&, uint16_t,
                                                      const HttpLimits&, Handler&, Workers&,
                                                      const TlsFiles&) {
  return unsupported("this build of Millrace has no gRPC (docs/serving.md)");
}

GrpcServer::GrpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GrpcServer::~GrpcServer() = default;

uint16_t GrpcServer::port() const {
  return 0;
}
void GrpcServer::use_tls(const TlsFiles&) {}
void GrpcServer::end_streams() {}
bool GrpcServer::wait_answered(std::chrono::steady_clock::time_point) {
  return true;
}
void GrpcServer::cancel_work() {}
void GrpcServer::stop() {}

}  // namespace millrace::serve
