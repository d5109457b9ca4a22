// The requests that a load generator sends to a server: with random elements, or with the data of
// files, as `millrace run` reads them. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "cli/bench/remote/remote_model.h"
#include "io/pictures/picture.h"

namespace millrace::cli {

// The command line says this about the inputs. A dimension that requests choose is 1 unless a shape
// or the file of an array says otherwise.
struct RequestData {
  std::vector<std::string> inputs = {};  // NAME=FILE, or FILE if there is one input; empty: random
  std::vector<std::string> shapes = {};  // NAME=1,3,224,224
  io::PictureOptions picture = {};
};

// Returns the texts of one request with random elements, or of one for each frame of the files, in
// their order. kInvalidArgument if a file or a shape does not fit the model, and if all requests
// take more than 1 GiB; errors of reading files.
Result<std::vector<std::string>> requests_for(const RemoteServer& server, const RemoteModel& model,
                                              const RequestData& data);

}  // namespace millrace::cli
