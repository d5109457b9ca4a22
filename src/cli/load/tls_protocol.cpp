#include "cli/load/tls_protocol.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <utility>

#include "cli/bench/remote/http_exchange.h"

namespace millrace::cli {
namespace {

namespace ssl = boost::asio::ssl;
using TlsStream = ssl::stream<boost::beast::tcp_stream>;

class TlsConnection : public HttpExchange<TlsStream> {
 public:
  TlsConnection(const RemoteServer& server, const std::string& name, ssl::context& context)
      : HttpExchange(server), name_(name), context_(context) {}

 private:
  void make(std::optional<TlsStream>& stream, boost::asio::io_context& io) const override {
    stream.emplace(io, context_);
    SSL_set_tlsext_host_name(stream->native_handle(), name_.c_str());
    boost::system::error_code ignored;
    stream->set_verify_callback(ssl::host_name_verification(name_), ignored);
  }
  bool is_encrypted() const override { return true; }
  void shake_hands(TlsStream& stream, Handler handler) override {
    stream.async_handshake(ssl::stream_base::client, std::move(handler));
  }

  const std::string& name_;
  ssl::context& context_;
};

class TlsProtocol : public RemoteProtocol {
 public:
  explicit TlsProtocol(std::string name) : name_(std::move(name)) {}

  Status trust(const std::string& ca_file) {
    boost::system::error_code error;
    context_.set_verify_mode(ssl::verify_peer, error);
    if (ca_file.empty())
      context_.set_default_verify_paths(error);
    else
      context_.load_verify_file(ca_file, error);
    return error ? invalid_argument(fmt::format("{}: {}", ca_file, error.message())) : Status();
  }

  std::unique_ptr<RemoteConnection> connection_to(const RemoteServer& server) const override {
    return std::make_unique<TlsConnection>(server, name_, context_);
  }

 private:
  const std::string name_;
  mutable ssl::context context_{ssl::context::tls_client};  // whose functions are not const
};

}  // namespace

Result<std::shared_ptr<const RemoteProtocol>> https_protocol(const std::string& host,
                                                             const std::string& ca_file) {
  auto protocol = std::make_shared<TlsProtocol>(host);
  MILLRACE_RETURN_IF_ERROR(protocol->trust(ca_file));
  return std::shared_ptr<const RemoteProtocol>(std::move(protocol));
}

}  // namespace millrace::cli
