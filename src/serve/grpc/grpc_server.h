// GrpcServer: the calls of the Open Inference Protocol over gRPC, which a Handler answers.
//
// gRPC owns the connections and the threads that read and write them. Any thread may answer a call,
// and none waits for a job. A call that the client cancels, or that is past its deadline, cancels
// its work.
#pragma once

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

class GrpcServer {
 public:
  // Listens; with `tls`, connections are encrypted. `handler` and `workers` must outlive the
  // server. kIoError if it cannot; kUnsupported if this build has no gRPC.
  static Result<std::unique_ptr<GrpcServer>> start(const std::string& address, uint16_t port,
                                                   const HttpLimits& limits, Handler& handler,
                                                   Workers& workers, const TlsFiles& tls = {});
  ~GrpcServer();  // stops

  uint16_t port() const;

  // Connections from now on are encrypted with these files; those that there are stay. Requirement:
  // connections are encrypted, and the files belong together.
  void use_tls(const TlsFiles& files);
  // From now on streams take no further request, and end with their last answer.
  void end_streams();
  // Waits until there is neither a stream nor a request that is not answered. False if `limit`
  // passed first.
  bool wait_answered(std::chrono::steady_clock::time_point limit);
  // Cancels the work for requests that are not answered; they still are.
  void cancel_work();
  // Cancels all work, and closes the connections when it is answered, or a second later.
  void stop();

 private:
  class Impl;
  explicit GrpcServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace::serve
