// Servers that answer each request at once with bytes as many as those of a small inference: what
// the libraries of HTTP and gRPC cost by themselves. Their requests go through a Relay.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/serve/relay.h"

namespace millrace::bench {

class EchoHttp {
 public:
  explicit EchoHttp(Relay& relay);
  ~EchoHttp();
  uint16_t port() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

class EchoGrpc {
 public:
  explicit EchoGrpc(Relay& relay);
  ~EchoGrpc();
  uint16_t port() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace::bench
