// Connection: reads the requests of one client and writes their answers. It is in one of these
// states, always on the thread of the server:
//
//   waiting for a request -> header -> body -> being answered -> writing -+
//            ^                                                            |
//            +------------------------------------------------------------+
//
// A body of stated length is read straight from the socket into the memory that the job will read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "serve/http/asio.h"
#include "serve/http/message.h"
#include "serve/http/parts_body.h"
#include "serve/http/shared_state.h"

namespace millrace::serve {

class Connection;
using Connections = std::unordered_set<std::shared_ptr<Connection>>;

// Only the thread of the server holds references that may be the last one: the set of all
// connections has one until the connection is closed, and the handlers of pending operations have
// others. So a connection is destroyed on that thread.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Socket socket, Shared& shared, Connections& all);
  ~Connection();

  void begin();
  void cancel_work();
  void close();

 private:
  using Parser = http::request_parser<http::buffer_body>;
  static constexpr size_t kChunk = 64 << 10;  // what is read at once

  void wait_for_request();
  void read_header();
  void on_header(error_code error);
  void take_header();
  void on_bad_header(error_code error);
  std::optional<HttpResponse> refuse_head();
  void begin_body();
  void write_continue();
  void read_body();
  void read_rest_of_body(size_t have);
  void read_chunks();
  void on_chunk(error_code error);
  void dispatch();
  std::shared_ptr<Work> begin_work();
  void on_work(std::shared_ptr<Work> work);
  void watch();
  void on_readable();
  void on_client_gone();
  void on_response(uint64_t request, HttpResponse response);
  void end_request();
  bool reserve(uint64_t bytes);
  void write(HttpResponse response, bool keep);
  void on_written(error_code error);
  void refuse(HttpResponse response);
  void linger();
  void drop_rest();

  Shared& shared_;
  Connections& all_;
  Stream stream_;
  // It holds what was read behind the last request, and is limited, since the size of a chunk and
  // the fields behind the last one are not.
  beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  HttpRequest request_;
  size_t json_bytes_ = 0;    // of the body
  std::string chunks_;       // the body, while it comes in chunks
  std::vector<char> chunk_;  // the next one
  uint64_t number_ = 0;      // of the request that is being answered
  bool answering_ = false;   // whether its answer is awaited
  bool watching_ = false;    // whether a wait for readability is pending
  bool keep_ = false;        // whether the client wants another request afterwards
  bool counted_ = false;     // whether it is counted as being answered
  uint64_t reserved_ = 0;    // its part of the bytes of all bodies
  std::shared_ptr<Work> work_;
  std::optional<http::response<PartsBody>> response_;
};

}  // namespace millrace::serve
