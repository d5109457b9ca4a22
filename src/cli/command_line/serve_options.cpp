#include "cli/command_line/serve_options.h"

#include <fmt/format.h>

#include <utility>

#include "cli/command_line/option_kinds.h"
#include "cli/command_line/picture_options.h"

namespace millrace::cli {
namespace {

constexpr uint64_t kMostUnits = 1024;
constexpr uint64_t kMostDepth = 65'536;
constexpr uint64_t kMostBodyBytes = uint64_t{16} << 30;

void add_model_options(CLI::App& command, serve::Options& options) {
  taking(command.add_option("models", options.models,
                            "archives, .onnx files, which are compiled at the start, and folders "
                            "of models"),
         "MODEL")
      ->required();
  taking(command.add_option("--name", options.name,
                            "the name under which clients find the model, if there is one only"),
         "NAME");
  as_choice(command.add_option("--precision", options.precision, "precision of .onnx files"),
            {"fp32", "bf16"})
      ->capture_default_str();
  as_count(command.add_option("--batch", options.batch,
                              "greatest number of frames in a request, for .onnx files; of rows "
                              "that requests share, for archives whose leading dimension is open"),
           1, 4096)
      ->capture_default_str();
  as_seconds(command.add_option("--batch-delay", options.batch_delay_seconds,
                                "longest time that a request waits for others to run with it as "
                                "one job, as 500us; otherwise each has a job of its own"));
  taking(command.add_option("--labels", options.labels,
                            "a text file whose line i, from 0, names class i; a folder of models "
                            "may have a labels.txt beside each"),
         "FILE");
  command.add_flag("--model-control", options.model_control,
                   "let clients load and unload models of the folders");
  taking(command.add_option("--device", options.device, "the device: cpu, null, or a plugin"),
         "NAME")
      ->capture_default_str();
}

void add_queue_options(CLI::App& command, serve::Options& options) {
  as_count(command.add_option("--units", options.units,
                              "units of each model, which run one job at a time; 0: one per lane"),
           0, kMostUnits)
      ->capture_default_str();
  as_count(command.add_option("--queue-depth", options.queue_depth,
                              "jobs that a unit accepts before one of them is completed"),
           1, kMostDepth)
      ->capture_default_str();
  const auto set_policy = [&options](const std::string& word) {
    options.when_full = word == "drop-oldest" ? WhenFull::kDropOldest
                        : word == "shed-late" ? WhenFull::kShedByDeadline
                                              : WhenFull::kFail;
  };
  as_choice(command
                .add_option_function<std::string>(
                    "--when-full", set_policy,
                    "when all units of a model are full: refuse the request, drop the oldest one "
                    "that waits, or end one that will be late")
                ->default_str("refuse"),
            {"refuse", "drop-oldest", "shed-late"});
  as_seconds(command.add_option("--timeout", options.request_seconds,
                                "deadline of requests that state none, as 500ms; otherwise they "
                                "have none"));
  as_seconds(command.add_option("--drain", options.drain_seconds,
                                "after SIGTERM: time for requests that were accepted"))
      ->capture_default_str();
}

void add_http_options(CLI::App& command, serve::Options& options) {
  serve::HttpLimits& http = options.http;
  taking(command.add_option("--address", options.address,
                            "IP address to listen on; 0.0.0.0 for all of this machine"),
         "ADDRESS")
      ->capture_default_str();
  as_count(command.add_option("--http-port", options.http_port, "port; 0: any free one"), 0, 65'535)
      ->capture_default_str();
  as_count(command.add_option("--grpc-port", options.grpc_port,
                              "port for gRPC; 0: any free one; otherwise there is no gRPC"),
           0, 65'535);
  taking(
      command.add_option("--unix-socket", options.unix_socket, "a Unix socket to listen at, too"),
      "PATH");
  command.add_flag("--shared-memory", options.shared_memory,
                   "let clients on this machine name regions of shared memory for their tensors");
  taking(command.add_option("--tls-certificate", options.tls.certificate,
                            "the certificate of the server and those between it and a root, in "
                            "PEM; connections over the network are encrypted then; read again "
                            "when it or the key changes"),
         "FILE");
  taking(command.add_option("--tls-key", options.tls.key, "the key of that certificate, in PEM"),
         "FILE");
  taking(command.add_option("--tls-client-ca", options.tls.client_ca,
                            "certificates of authorities, in PEM: clients must state a "
                            "certificate of one of them"),
         "FILE");
  taking(command.add_option("--token-file", options.token_file,
                            "a file whose first line clients must state as bearer token, except "
                            "for the health of the server; it is read again when it changes"),
         "FILE");
  taking(command.add_option("--access-log", options.access_log,
                            "a file, to which a line of JSON is added for each request; - is "
                            "standard output; SIGHUP opens it again"),
         "FILE");
  as_count(command.add_option("--max-body", http.body_bytes, "greatest size of a body in bytes"), 1,
           kMostBodyBytes)
      ->capture_default_str();
  as_count(command.add_option("--max-bodies", http.all_bodies_bytes,
                              "greatest size of the bodies of all requests that are not answered; "
                              "beyond it requests are refused with 503"),
           1)
      ->capture_default_str();
  as_count(command.add_option("--max-answers", http.all_answers_bytes,
                              "greatest size of the answers that clients have not taken; beyond it "
                              "long answers become 503"),
           1)
      ->capture_default_str();
  as_count(command.add_option("--max-connections", http.connections,
                              "connections at a time; further ones are answered with 503"),
           1)
      ->capture_default_str();
  as_count(command.add_option("--max-grpc-connections", http.grpc_connections,
                              "connections of gRPC at a time; further ones are closed"),
           1)
      ->capture_default_str();
  as_seconds(command.add_option("--idle-timeout", http.idle_seconds,
                                "time between two requests of a connection"))
      ->capture_default_str();
  as_seconds(command.add_option("--header-timeout", http.header_seconds,
                                "time for the header of a request"))
      ->capture_default_str();
  as_seconds(command.add_option("--body-timeout", http.body_seconds,
                                "time for the body of a request, and for its answer to be read"))
      ->capture_default_str();
}

}  // namespace

void add_serve_options(CLI::App& command, ServeFlags& flags) {
  add_model_options(command, flags.options);
  add_queue_options(command, flags.options);
  add_http_options(command, flags.options);
  add_picture_flags(command, flags.picture);
}

Result<serve::Options> serve_options(const ServeFlags& flags) {
  serve::Options options = flags.options;
  MILLRACE_ASSIGN_OR_RETURN(options.picture, picture_options(flags.picture));
  options.takes_pictures = states_normalisation(flags.picture);
  return options;
}

Result<std::optional<serve::Options>> parse_serve_options(int argc, char** argv) {
  CLI::App program("Serve models over HTTP and gRPC", "millrace-serve");
  ServeFlags flags;
  add_serve_options(program, flags);
  take_one_argument_each(program);
  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", program.help());
    return std::optional<serve::Options>();
  } catch (const CLI::ParseError& error) {
    return invalid_argument(error.what());
  }
  MILLRACE_ASSIGN_OR_RETURN(serve::Options options, serve_options(flags));
  return std::optional(std::move(options));
}

}  // namespace millrace::cli
