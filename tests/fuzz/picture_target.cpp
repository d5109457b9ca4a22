// A picture is refused with a reason, or fills the planes that were asked for, however it has to be
// fitted.
#include "io/pictures/picture.h"
#include "tests/fuzz/target.h"

namespace millrace::fuzz {

void fuzz_one(Input input) {
  const InputFile file(input);
  using vision::Fit;
  for (const Fit fit : {Fit::kStretch, Fit::kCrop, Fit::kLetterbox, Fit::kPanscan}) {
    const uint32_t channels = fit == Fit::kCrop ? 1 : 3;
    const auto planes = io::load_picture(file.path(), {.height = 6,
                                                       .width = 9,
                                                       .channels = channels,
                                                       .fit = {.fit = fit},
                                                       .max_pixels = 1 << 22});
    if (!planes.ok())
      return expect_refusal(planes.status(),
                            {StatusCode::kCorruptData, StatusCode::kInvalidArgument});
    expect(planes->size() == size_t{6} * 9 * channels, "all planes");
  }
}

}  // namespace millrace::fuzz
