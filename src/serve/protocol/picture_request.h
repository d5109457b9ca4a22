// Inference requests whose body is a picture instead of JSON. Thread-safe.
#pragma once

#include "base/status.h"
#include "io/pictures/picture.h"
#include "millrace/model.hpp"
#include "serve/http/message.h"
#include "serve/protocol/infer_request.h"

namespace millrace::serve {

// Whether the content type of the body is that of a picture.
bool is_picture(const HttpRequest& request);

// Decodes the picture and preprocesses it to the only input of the model. The answer has the five
// highest classes of each output. kInvalidArgument if `options` is null, which means that nobody
// has said how pictures are preprocessed, or if the model takes no picture; kCorruptData if the
// body is none.
Result<InferRequest> read_picture_request(HttpRequest request, const Model& model,
                                          const io::PictureOptions* options);

}  // namespace millrace::serve
