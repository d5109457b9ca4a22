// gRPC over TLS.
#include <gmock/gmock.h>

#include <string>

#include "tests/serve/certificates.h"
#include "tests/serve/grpc_fixture.h"

namespace millrace::test {
namespace {

class GrpcTls : public GrpcServe {
 protected:
  GrpcTls() {
    const Identity own = authority_.issue();
    options_.tls.certificate = write_text(files_.file("server.pem"), own.certificate);
    options_.tls.key = write_text(files_.file("server.key"), own.key);
  }

  // Null: no certificate of the client.
  grpc::StatusCode ask(const Identity* own) {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = authority_.certificate();
    if (own != nullptr) options.pem_cert_chain = own->certificate;
    if (own != nullptr) options.pem_private_key = own->key;
    grpc::ChannelArguments alone;
    alone.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto stub = inference::GRPCInferenceService::NewStub(grpc::CreateCustomChannel(
        "127.0.0.1:" + std::to_string(port_), grpc::SslCredentials(options), alone));
    grpc::ClientContext context;
    ModelInferResponse response;
    return stub->ModelInfer(&context, tiny_request(), &response).error_code();
  }

  const Authority authority_;
  const TemporaryDirectory files_;
  uint16_t port_ = 0;
};

TEST_F(GrpcTls, CallsAreAnsweredToThoseWhoEncrypt) {
  port_ = start().grpc_port();
  EXPECT_EQ(ask(nullptr), grpc::StatusCode::OK);
  EXPECT_EQ(infer(tiny_request()).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(GrpcTls, NewFilesAreForNewConnections) {
  serve::Server& server = start();
  port_ = server.grpc_port();
  ASSERT_EQ(ask(nullptr), grpc::StatusCode::OK);
  const Identity renewed = Authority().issue();
  write_text(files_.file("server.pem"), renewed.certificate);
  write_text(files_.file("server.key"), renewed.key);
  server.reread_files();
  EXPECT_EQ(ask(nullptr), grpc::StatusCode::UNAVAILABLE);
  const Identity back = authority_.issue();
  write_text(files_.file("server.pem"), back.certificate);
  write_text(files_.file("server.key"), back.key);
  server.reread_files();
  EXPECT_EQ(ask(nullptr), grpc::StatusCode::OK);
}

TEST_F(GrpcTls, ClientsStateACertificateOfTheAuthority) {
  options_.tls.client_ca = write_text(files_.file("clients.pem"), authority_.certificate());
  port_ = start().grpc_port();
  const Identity known = authority_.issue(), stranger = Authority().issue();
  EXPECT_EQ(ask(&known), grpc::StatusCode::OK);
  EXPECT_EQ(ask(&stranger), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ask(nullptr), grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace millrace::test
