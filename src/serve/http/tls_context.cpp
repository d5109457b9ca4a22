#include "serve/http/tls_context.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <string>
#include <utility>

namespace millrace::serve {
namespace {

Status wrong_file(const std::string& path, const error_code& error) {
  return invalid_argument(fmt::format("{}: {}", path, error.message()));
}

// Clients that come again state their certificates again, so nothing of a session is kept.
void forget_sessions(SSL_CTX* context) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context, 0);
}

}  // namespace

Result<TlsContext> tls_context(const TlsFiles& files, const TlsPaths& paths) {
  if (files.certificate.empty() && paths.certificate.empty()) return TlsContext();
  auto context = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  SSL_CTX* const native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  forget_sessions(native);
  error_code error;
  // A key with a password would have OpenSSL ask the terminal for it.
  context->set_password_callback([](size_t, asio::ssl::context::password_purpose) { return ""; },
                                 error);
  context->use_certificate_chain(asio::buffer(files.certificate), error);
  if (error) return wrong_file(paths.certificate, error);
  context->use_private_key(asio::buffer(files.key), asio::ssl::context::pem, error);
  if (error) return wrong_file(paths.key, error);
  if (SSL_CTX_check_private_key(native) != 1)
    return invalid_argument(paths.key + ": the key is not that of the certificate");
  if (files.client_ca.empty() && paths.client_ca.empty()) return context;
  context->add_certificate_authority(asio::buffer(files.client_ca), error);
  if (error) return wrong_file(paths.client_ca, error);
  context->set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert, error);
  return context;
}

}  // namespace millrace::serve
