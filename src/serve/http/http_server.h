// HttpServer: accepts connections and reads requests, which a Handler answers.
//
// One thread owns all connections: it reads, writes, and calls the handler for requests with little
// JSON; those with much are handled by the workers. Any thread may give a response, which is posted
// to it. It never waits for a job, so thousands of connections cost memory only.
//
// While a request is being answered, its connection is watched: when the client closes it, the
// work for the request is cancelled.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "serve/http/message.h"
#include "serve/http/tls_files.h"
#include "serve/http/workers.h"
#include "serve/options.h"

namespace millrace::serve {

class HttpServer {
 public:
  // Listens, and starts the thread. `handler`, `workers` and `connections` must outlive the server,
  // which keeps the number of open connections in the latter. It listens at a Unix socket, too, if
  // `socket_path` is not empty. With `tls`, connections over the network are encrypted.
  // kInvalidArgument for an address that is none; kIoError, with the reason, if it cannot listen.
  static Result<std::unique_ptr<HttpServer>> start(const std::string& address, uint16_t port,
                                                   const HttpLimits& limits, Handler& handler,
                                                   Workers& workers,
                                                   std::atomic<uint32_t>& connections,
                                                   const std::string& socket_path = {},
                                                   const TlsFiles& tls = {});
  ~HttpServer();  // stops

  // The address as a URL, with the port that was chosen.
  std::string url() const;
  uint16_t port() const;

  // Connections from now on are encrypted with these files; those that there are stay. Requirement:
  // connections are encrypted. kInvalidArgument if the files do not belong together.
  Status use_tls(const TlsFiles& files);
  // From now on every connection is closed after its next answer.
  void close_after_answers();
  // Waits until every request whose header came before that is answered. False if `limit` passed
  // first.
  bool wait_answered(std::chrono::steady_clock::time_point limit);
  // Cancels the work for requests that are being answered, as if their clients had gone; they are
  // still answered.
  void cancel_work();
  // Closes every connection and ends the thread. Requests that are not answered never are, but the
  // functions to answer them may still be called.
  void stop();

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace::serve
