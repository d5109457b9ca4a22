#include "cli/bench/remote/connection.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "cli/bench/remote/http_exchange.h"
#include "cli/bench/remote/name_lookup.h"
#include "cli/bench/remote/protocol.h"

namespace millrace::cli {
namespace {

// For the address of a host. Resolvers answer within a second or two, or not at all.
constexpr std::chrono::seconds kLookupLimit{10};

struct Scheme {
  std::string_view name, port;  // without a port, the URL must state one
};
constexpr std::array kSchemes =
    std::to_array<Scheme>({{"http", "80"}, {"https", "443"}, {"grpc", ""}, {"grpcs", ""}});

class PlainConnection : public HttpExchange<boost::beast::tcp_stream> {
 public:
  using HttpExchange::HttpExchange;

 private:
  void make(std::optional<boost::beast::tcp_stream>& stream,
            boost::asio::io_context& io) const override {
    stream.emplace(io);
  }
};

}  // namespace

Result<RemoteUrl> parse_url(const std::string& url) {
  std::string_view rest = url;
  const Status wrong = invalid_argument(
      "--url must be http://HOST:PORT, or begin with https, grpc or grpcs, not " + url);
  const size_t end = rest.find("://");
  const std::string_view scheme = rest.substr(0, end);
  const auto known = std::ranges::find(kSchemes, scheme, &Scheme::name);
  if (end == rest.npos || known == kSchemes.end()) return wrong;
  rest.remove_prefix(end + 3);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const size_t colon = rest.rfind(':');
  const bool has_port = colon != std::string_view::npos && rest.find(']', colon) == rest.npos;
  std::string_view host = has_port ? rest.substr(0, colon) : rest;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  RemoteUrl parsed{.scheme = std::string(scheme),
                   .authority = std::string(rest),
                   .host = std::string(host),
                   .port = std::string(has_port ? rest.substr(colon + 1) : known->port)};
  if (parsed.host.empty() || parsed.port.empty() || rest.find_first_of("/?#@ \r\n") != rest.npos)
    return wrong;
  return parsed;
}

Result<RemoteServer> find_server(const std::string& url) {
  MILLRACE_ASSIGN_OR_RETURN(const RemoteUrl parsed, parse_url(url));
  RemoteServer server{.host = parsed.authority, .endpoints = {}};
  auto found = within(kLookupLimit, [parsed] { return look_up(parsed.host, parsed.port); });
  if (!found.ok()) return found.status().with_context("cannot find " + url);
  server.endpoints = *std::move(found);
  return server;
}

std::unique_ptr<RemoteConnection> connection_to(const RemoteServer& server) {
  if (server.protocol) return server.protocol->connection_to(server);
  return std::make_unique<PlainConnection>(server);
}

}  // namespace millrace::cli
