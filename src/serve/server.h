// Server: everything that `millrace serve` does between its command line and its signals.
//
// Each thread has its task: the thread of HttpServer and those of gRPC own the connections; the
// lanes of the device compute; the thread for callbacks makes answers; workers read and write long
// JSON. The caller's thread starts and ends the server.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "millrace/device.hpp"
#include "serve/access_log/access_log.h"
#include "serve/access_log/logged_handler.h"
#include "serve/file_watch.h"
#include "serve/grpc/grpc_server.h"
#include "serve/http/http_server.h"
#include "serve/http/tls_files.h"
#include "serve/http/workers.h"
#include "serve/metrics.h"
#include "serve/models/model_repository.h"
#include "serve/options.h"
#include "serve/service.h"

namespace millrace::serve {

class Server {
 public:
  // Opens the device, loads the models and listens. Errors are those of Device::open(), of
  // ModelRepository::start(), and of the start() of HttpServer and GrpcServer; kResourceExhausted
  // if the system refuses threads.
  static Result<std::unique_ptr<Server>> start(const Options& options);
  ~Server();

  std::string url() const { return http_->url(); }
  uint16_t port() const { return http_->port(); }
  // The port for gRPC; 0 if the options state none.
  uint16_t grpc_port() const { return grpc_ ? grpc_->port() : 0; }
  // Returns the models that are served.
  ModelRepository::Models models() const { return models_.all(); }
  // Returns the models of repositories that could not be loaded.
  std::vector<FailedModel> failed_models() const { return models_.failed(); }

  // Opens the access log again, soon, whose file has been renamed.
  void reopen_log() noexcept;
  // Reads the files of the token and of TLS again. Those that there is something wrong with leave
  // the old ones as they are, and the log says why; then it returns false. Connections stay. The
  // server does that by itself about a second after one of the files has changed, too, and again
  // until it succeeds.
  bool reread_files() noexcept;

  // Refuses new inference, waits for what was accepted, and ends. Requests that are not answered by
  // the time that the options state are cancelled. Returns whether all were answered in time.
  bool drain();

 private:
  Server(const Options& options, Device device);
  static Result<std::unique_ptr<Server>> create(const Options& options, Device device);
  Status read_token();
  bool reread_token();
  bool reread_tls();
  Status replace_tls();
  static bool log_failure(const Status& status, const char* what, std::string& last);
  Status watch_files();
  Status open_log();
  Status listen();
  bool wait_answered(std::chrono::steady_clock::time_point limit);

  const Options options_;
  Device device_;
  Metrics metrics_;
  ModelRepository models_;
  Workers workers_;
  std::atomic<uint32_t> connections_ = 0;
  Service service_;
  std::mutex rereading_;
  std::string token_failure_, tls_failure_;  // those logged last; guarded by rereading_
  TlsFiles tls_;                             // guarded by rereading_ once the server listens
  std::unique_ptr<AccessLog> log_;           // null: none
  std::unique_ptr<LoggedHandler> logged_;    // null: requests are not logged
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<GrpcServer> grpc_;  // null: no gRPC
  std::unique_ptr<FileWatch> watch_;  // null: there is no file to be read again
};

}  // namespace millrace::serve
