#include "serve/server.h"

#include <chrono>
#include <exception>
#include <stdexcept>
#include <utility>

#include "base/log.h"
#include "io/file.h"
#include "serve/http/read_tls_files.h"

namespace millrace::serve {
namespace {

constexpr unsigned kWorkerThreads = 2;
// For answers to requests that were cancelled at the end of the drain.
constexpr std::chrono::seconds kLastAnswers{1};
// Between two looks at the files of the token and of TLS.
constexpr std::chrono::seconds kWatchPeriod{1};

}  // namespace

Server::Server(const Options& options, Device device)
    : options_(options),
      device_(std::move(device)),
      models_(options_, device_, metrics_),
      workers_(kWorkerThreads),
      service_(models_, metrics_, workers_, options_, connections_) {}

// Units are closed before the connections that their callbacks answer. The workers end last, since
// the thread of the connections must not give them work that they never do.
Server::~Server() {
  watch_.reset();
  models_.close();
  if (http_) http_->stop();
  if (grpc_) grpc_->stop();
  service_.join();
  workers_.join();
}

Result<std::unique_ptr<Server>> Server::start(const Options& options) {
  MILLRACE_ASSIGN_OR_RETURN(Device device, Device::open(options.device));
  MILLRACE_ASSIGN_OR_RETURN(std::unique_ptr<Server> server, create(options, std::move(device)));
  MILLRACE_RETURN_IF_ERROR(server->read_token());
  MILLRACE_ASSIGN_OR_RETURN(server->tls_, read_tls_files(options.tls));
  MILLRACE_RETURN_IF_ERROR(server->open_log());
  MILLRACE_RETURN_IF_ERROR(server->models_.start());
  MILLRACE_RETURN_IF_ERROR(server->listen());
  MILLRACE_RETURN_IF_ERROR(server->watch_files());
  return server;
}

Status Server::read_token() {
  if (options_.token_file.empty()) return {};
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::string> lines,
                            io::read_lines(options_.token_file));
  if (lines.empty() || lines.front().empty())
    return invalid_argument(options_.token_file + " has no token in its first line");
  service_.require_token(lines.front());
  return {};
}

Status Server::open_log() {
  if (options_.access_log.empty()) return {};
  MILLRACE_ASSIGN_OR_RETURN(
      log_, AccessLog::open(options_.access_log, [this] { metrics_.log_line_dropped(); }));
  logged_ = std::make_unique<LoggedHandler>(service_, models_, *log_);
  return {};
}

void Server::reopen_log() noexcept {
  if (log_) log_->reopen();
}

bool Server::reread_files() noexcept {
  const std::lock_guard lock(rereading_);
  try {
    const bool token = options_.token_file.empty() || reread_token();
    const bool tls = options_.tls.certificate.empty() || reread_tls();
    return token && tls;
  } catch (const std::exception& error) {
    log_format(LogLevel::kError, "serve", "files are not read again: {}", error.what());
    return false;
  }
}

bool Server::reread_token() {
  return log_failure(read_token(), "token", token_failure_);
}

// New files may be wrong, which must not end the server: the old ones stay then.
bool Server::reread_tls() {
  return log_failure(replace_tls(), "certificate", tls_failure_);
}

Status Server::replace_tls() {
  MILLRACE_ASSIGN_OR_RETURN(TlsFiles files, read_tls_files(options_.tls));
  if (files == tls_) return {};
  MILLRACE_RETURN_IF_ERROR(http_->use_tls(files));
  if (grpc_) grpc_->use_tls(files);
  tls_ = std::move(files);
  return {};
}

// Files that are wrong are read again every second, so the log says each reason once.
bool Server::log_failure(const Status& status, const char* what, std::string& last) {
  const std::string message = status.ok() ? "" : status.message();
  if (message != last && !status.ok())
    log_format(LogLevel::kError, "serve", "the {} is not read again, and stays as it was: {}", what,
               message);
  last = message;
  return status.ok();
}

Status Server::watch_files() {
  std::vector<std::string> paths;
  for (const std::string& path :
       {options_.token_file, options_.tls.certificate, options_.tls.key, options_.tls.client_ca})
    if (!path.empty()) paths.push_back(path);
  if (paths.empty()) return {};
  MILLRACE_ASSIGN_OR_RETURN(
      watch_, FileWatch::start(std::move(paths), kWatchPeriod, [this] { return reread_files(); }));
  // The files may have changed since they were read, while the models were loaded.
  reread_files();
  return {};
}

Status Server::listen() {
  Handler& handler = logged_ ? static_cast<Handler&>(*logged_) : service_;
  MILLRACE_ASSIGN_OR_RETURN(
      http_, HttpServer::start(options_.address, options_.http_port, options_.http, handler,
                               workers_, connections_, options_.unix_socket, tls_));
  if (!options_.grpc_port) return {};
  MILLRACE_ASSIGN_OR_RETURN(grpc_, GrpcServer::start(options_.address, *options_.grpc_port,
                                                     options_.http, handler, workers_, tls_));
  return {};
}

Result<std::unique_ptr<Server>> Server::create(const Options& options, Device device) {
  try {
    return std::unique_ptr<Server>(new Server(options, std::move(device)));
  } catch (const std::runtime_error& error) {
    return Status(StatusCode::kResourceExhausted, error.what());
  }
}

bool Server::drain() {
  service_.begin_drain();
  models_.end_waiting();
  http_->close_after_answers();
  if (grpc_) grpc_->end_streams();
  const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(options_.drain_seconds));
  if (wait_answered(std::chrono::steady_clock::now() + time)) return true;
  http_->cancel_work();
  if (grpc_) grpc_->cancel_work();
  wait_answered(std::chrono::steady_clock::now() + kLastAnswers);
  return false;
}

bool Server::wait_answered(std::chrono::steady_clock::time_point limit) {
  const bool http = http_->wait_answered(limit);
  return (!grpc_ || grpc_->wait_answered(limit)) && http;
}

}  // namespace millrace::serve
