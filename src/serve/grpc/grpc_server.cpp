#include "serve/grpc/grpc_server.h"

#include <fmt/format.h>
#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/log.h"
#include "serve/grpc/backend.h"
#include "serve/grpc/connections.h"
#include "serve/grpc/front.h"
#include "serve/grpc/tls_credentials.h"

namespace millrace::serve {
namespace {

// For answers to requests that are cancelled when the server stops.
constexpr std::chrono::seconds kLastAnswers{1};
constexpr int kMostCallsOfConnection = 1000;
// A connection whose client does not answer a ping has gone.
constexpr int kPingMilliseconds = 30'000;
constexpr int kPingAnswerMilliseconds = 10'000;
constexpr int kLeastClientPingMilliseconds = 10'000;
// Between two looks for calls whose clients do not take their answers, or say nothing.
constexpr std::chrono::seconds kLongestPause{1};
// For what gRPC needs besides the messages.
constexpr size_t kBytesOfGrpc = size_t{64} << 20;

// gRPC would write to standard error itself.
void log_of_grpc(gpr_log_func_args* line) {
  const LogLevel level = line->severity == GPR_LOG_SEVERITY_ERROR  ? LogLevel::kError
                         : line->severity == GPR_LOG_SEVERITY_INFO ? LogLevel::kInfo
                                                                   : LogLevel::kDebug;
  log_format(level, "grpc", "{}", line->message);
}

int milliseconds(double seconds) {
  return static_cast<int>(std::clamp(seconds * 1000, 1.0, double{std::numeric_limits<int>::max()}));
}

void limit(grpc::ServerBuilder& builder, const HttpLimits& limits) {
  builder.SetMaxReceiveMessageSize(
      static_cast<int>(std::min<uint64_t>(limits.body_bytes, std::numeric_limits<int>::max())));
  builder.SetMaxSendMessageSize(-1);
  // gRPC compares the size before it unpacks a message, which may become a thousand times larger.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  grpc::ResourceQuota quota("millrace");
  quota.Resize(limits.all_bodies_bytes + kBytesOfGrpc);
  builder.SetResourceQuota(quota);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, static_cast<int>(limits.header_bytes));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostCallsOfConnection);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, milliseconds(limits.idle_seconds));
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             milliseconds(limits.header_seconds));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kPingMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingAnswerMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kLeastClientPingMilliseconds);
}

}  // namespace

class GrpcServer::Impl {
 public:
  Impl(const HttpLimits& limits, Handler& handler, Workers& workers, const TlsFiles& tls)
      : limits_(limits), tls_(tls), backend_(handler, workers, limits) {}
  ~Impl() { stop(); }

  Status listen(const std::string& address, uint16_t port) {
    gpr_set_log_function(log_of_grpc);
    MILLRACE_RETURN_IF_ERROR(connections_.listen(address, port));
    grpc::ServerBuilder builder;
    limit(builder, limits_);
    connections_.add_to(builder, tls_.of_server());
    builder.RegisterService(front_.get());
    builder.RegisterCallbackGenericService(refuser_.get());
    server_ = builder.BuildAndStart();
    if (!server_)
      return {StatusCode::kIoError, "gRPC cannot be started; MILLRACE_LOG=error says why"};
    MILLRACE_RETURN_IF_ERROR(connections_.start());
    return watch();
  }

  void stop() {
    if (!server_) return;
    connections_.stop();
    calls().take_no_more();
    calls().cancel_all();
    server_->Shutdown(std::chrono::system_clock::now() + kLastAnswers);
    server_.reset();
    watch_ = {};
  }

  void use_tls(const TlsFiles& files) { tls_.replace(files); }
  Calls& calls() { return backend_.calls(); }
  uint16_t port() const { return connections_.port(); }

 private:
  // Begins to abort calls whose clients do not take their answers in time, or say nothing.
  Status watch() {
    try {
      watch_ = std::jthread([this](const std::stop_token& end) { abort_slow_calls(end); });
      return {};
    } catch (const std::system_error& error) {
      return {StatusCode::kResourceExhausted,
              fmt::format("cannot start a thread for gRPC: {}", error.what())};
    }
  }

  void abort_slow_calls(const std::stop_token& end) {
    const auto limit = std::chrono::milliseconds(milliseconds(limits_.body_seconds));
    const auto idle = std::chrono::milliseconds(milliseconds(limits_.idle_seconds));
    const auto pause = std::min<std::chrono::milliseconds>(std::min(limit, idle), kLongestPause);
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    while (!end.stop_requested()) {
      never.wait_for(lock, end, pause, [] { return false; });
      calls().abort_slow(Call::Clock::now() - limit, Call::Clock::now() - idle);
    }
  }

  const HttpLimits limits_;
  TlsCredentials tls_;
  Backend backend_;
  const std::unique_ptr<grpc::Service> front_ = make_front(backend_);
  const std::unique_ptr<grpc::CallbackGenericService> refuser_ = make_refuser(backend_);
  GrpcConnections connections_{limits_.grpc_connections, [this](std::string remote) {
                                 backend_.count_turned_away(std::move(remote));
                               }};
  std::unique_ptr<grpc::Server> server_;
  std::jthread watch_;
};

Result<std::unique_ptr<GrpcServer>> GrpcServer::start(const std::string& address, uint16_t port,
                                                      const HttpLimits& limits, Handler& handler,
                                                      Workers& workers, const TlsFiles& tls) {
  auto impl = std::make_unique<Impl>(limits, handler, workers, tls);
  MILLRACE_RETURN_IF_ERROR(impl->listen(address, port));
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(impl)));
}

GrpcServer::GrpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GrpcServer::~GrpcServer() = default;

uint16_t GrpcServer::port() const {
  return impl_->port();
}

void GrpcServer::use_tls(const TlsFiles& files) {
  impl_->use_tls(files);
}

void GrpcServer::end_streams() {
  impl_->calls().take_no_more();
}

bool GrpcServer::wait_answered(std::chrono::steady_clock::time_point limit) {
  return impl_->calls().wait_for_none(limit);
}

void GrpcServer::cancel_work() {
  impl_->calls().cancel_all();
}

void GrpcServer::stop() {
  impl_->stop();
}

}  // namespace millrace::serve
