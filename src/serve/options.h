// The options of `millrace serve`: plain values, which the command line fills and the server reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/pictures/picture.h"
#include "millrace/execution.hpp"
#include "serve/http/tls_files.h"

namespace millrace::serve {

struct HttpLimits {
  uint64_t body_bytes = uint64_t{64} << 20;        // of one request
  uint64_t all_bodies_bytes = uint64_t{1} << 30;   // of requests that are not answered
  uint64_t all_answers_bytes = uint64_t{1} << 30;  // that clients have not taken
  uint32_t header_bytes = 16 << 10;                // of one request, its first line included
  uint32_t connections = 12'000;                   // further ones are answered with 503 and closed
  uint32_t grpc_connections = 2000;                // further ones are closed
  double idle_seconds = 75;                        // between two requests of a connection
  double header_seconds = 10;  // for a header, from its first byte to its last one
  double body_seconds = 60;    // for a body, and for a client to take its answer
};

struct Options {
  std::vector<std::string> models;  // .onnx files, archives, and folders of models
  std::string name;                 // of the only model; empty: that of its file or folder
  std::string address = "127.0.0.1";
  uint16_t http_port = 8080;          // 0: any free one
  std::optional<uint16_t> grpc_port;  // 0: any free one; none: no gRPC
  std::string device = "cpu";
  std::string precision = "fp32";  // of .onnx files
  uint32_t batch = 1;  // frames per job of .onnx files; rows, where the leading dimension is open
  double batch_delay_seconds = 0;        // for which a request waits for others to share its job
  uint32_t queue_depth = 64;             // jobs that a unit accepts before one of them is completed
  uint32_t units = 0;                    // units of each model; 0: one for each lane of the device
  WhenFull when_full = WhenFull::kFail;  // when all units of a model are
  double request_seconds = 0;            // deadline of requests that state none; 0: none
  double drain_seconds = 10;             // for accepted requests, after SIGTERM
  HttpLimits http;
  // How bodies that are pictures become inputs; their size is that of the input.
  bool takes_pictures = false;
  io::PictureOptions picture;
  std::string unix_socket;     // path of one to listen at, too; empty: none
  bool shared_memory = false;  // whether clients may register regions of shared memory
  bool model_control = false;  // whether clients may load and unload models
  TlsPaths tls;                // empty: connections are not encrypted
  std::string token_file;      // its first line is the token that clients must state; empty: none
  std::string access_log;      // a file, or "-" for standard output; empty: none
  std::string labels;          // a file with the names of classes; empty: none
};

}  // namespace millrace::serve
