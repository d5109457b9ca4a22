// TlsCredentials: the certificate, key and authorities of a server of gRPC. They may be replaced
// while it serves: handshakes that begin afterwards use the new ones, and connections stay.
// Thread-safe.
#pragma once

#include <grpc/grpc_security.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <mutex>

#include "serve/http/tls_files.h"

namespace millrace::serve {

class TlsCredentials {
 public:
  explicit TlsCredentials(TlsFiles files) : files_(std::move(files)) {}

  // Returns what a server is built with, which must not outlive this object. Without a certificate,
  // connections are not encrypted.
  std::shared_ptr<grpc::ServerCredentials> of_server();
  // Requirement: the files belong together, and there is a certificate, as there was before.
  void replace(TlsFiles files);

 private:
  static grpc_ssl_certificate_config_reload_status fetch(
      void* own, grpc_ssl_server_certificate_config** config) noexcept;

  std::mutex mutex_;
  TlsFiles files_;
  bool changed_ = true;  // since gRPC has asked for them
};

}  // namespace millrace::serve
