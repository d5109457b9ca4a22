#include "serve/grpc/tls_credentials.h"

#include <grpc/grpc.h>

#include <string>
#include <utility>

namespace millrace::serve {
namespace {

// The C++ interface has no credentials whose files can be replaced; that in C has.
class CredentialsOfC : public grpc::ServerCredentials {
 public:
  explicit CredentialsOfC(grpc_server_credentials* own) : own_(own) {}
  ~CredentialsOfC() override { grpc_server_credentials_release(own_); }

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), own_);
  }

  grpc_server_credentials* const own_;
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> TlsCredentials::of_server() {
  if (files_.certificate.empty()) return grpc::InsecureServerCredentials();
  const auto of_clients = files_.client_ca.empty()
                              ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                              : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY;
  return std::make_shared<CredentialsOfC>(grpc_ssl_server_credentials_create_with_options(
      grpc_ssl_server_credentials_create_options_using_config_fetcher(of_clients, &fetch, this)));
}

void TlsCredentials::replace(TlsFiles files) {
  const std::lock_guard lock(mutex_);
  files_ = std::move(files);
  changed_ = true;
}

// Called for each handshake.
grpc_ssl_certificate_config_reload_status TlsCredentials::fetch(
    void* own, grpc_ssl_server_certificate_config** config) noexcept {
  auto& self = *static_cast<TlsCredentials*>(own);
  const std::lock_guard lock(self.mutex_);
  if (!self.changed_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  const TlsFiles& files = self.files_;
  const grpc_ssl_pem_key_cert_pair pair = {files.key.c_str(), files.certificate.c_str()};
  // gRPC ends the process if there are no authorities. No client is asked for a certificate of them
  // unless there are some in the files.
  const std::string& authorities = files.client_ca.empty() ? files.certificate : files.client_ca;
  *config = grpc_ssl_server_certificate_config_create(authorities.c_str(), &pair, 1);
  self.changed_ = false;
  return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

}  // namespace millrace::serve
