#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/byte_buffer.h>

#include "bench/serve/echo.h"
#include "bench/serve/messages.h"

namespace millrace::bench {
namespace {

class Call : public grpc::ServerGenericBidiReactor {
 public:
  explicit Call(Relay& relay) : relay_(relay) {
    const grpc::Slice bytes(answer_bytes());
    answer_ = grpc::ByteBuffer(&bytes, 1);
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::CANCELLED);
    relay_.pass([this] { StartWriteAndFinish(&answer_, {}, grpc::Status::OK); });
  }
  void OnDone() override { delete this; }

 private:
  Relay& relay_;
  grpc::ByteBuffer request_, answer_;
};

class Service : public grpc::CallbackGenericService {
 public:
  explicit Service(Relay& relay) : relay_(relay) {}
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    return new Call(relay_);
  }

 private:
  Relay& relay_;
};

}  // namespace

class EchoGrpc::Impl {
 public:
  explicit Impl(Relay& relay) : service_(relay) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterCallbackGenericService(&service_);
    server_ = builder.BuildAndStart();
  }
  ~Impl() { server_->Shutdown(); }
  uint16_t port() const { return static_cast<uint16_t>(port_); }

 private:
  Service service_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

EchoGrpc::EchoGrpc(Relay& relay) : impl_(std::make_unique<Impl>(relay)) {}
EchoGrpc::~EchoGrpc() = default;

uint16_t EchoGrpc::port() const {
  return impl_->port();
}

}  // namespace millrace::bench
