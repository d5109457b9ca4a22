#include "cli/command_line/picture_options.h"

#include <vector>

#include "cli/command_line/option_kinds.h"

namespace millrace::cli {
namespace {

constexpr const char* kPictureGroup = "Preprocessing of pictures";

CLI::Option* add_channels(CLI::App& command, const char* name, std::vector<float>& values,
                          const char* description) {
  return taking(command.add_option(name, values, description)->delimiter(','), "NUMBERS")
      ->group(kPictureGroup);
}

}  // namespace

void add_picture_flags(CLI::App& command, PictureFlags& flags) {
  add_channels(command, "--mean", flags.mean,
               "subtracted from picture values of 0 to 255: one value, or one per channel");
  add_channels(command, "--scale", flags.scale,
               "factor applied after --mean: one value, or one per channel");
  add_channels(command, "--std", flags.deviation,
               "divisor applied after --mean, instead of --scale: one value, or one per channel");
  as_choice(command.add_option("--normalize", flags.normalise,
                               "usual values instead of these: the mean and deviation of ImageNet, "
                               "values of 0 to 1, or pixels as they are"),
            {"imagenet", "unit", "none"})
      ->group(kPictureGroup);
  as_choice(command.add_option("--order", flags.order, "channel order that the model expects"),
            {"rgb", "bgr"})
      ->capture_default_str()
      ->group(kPictureGroup);
  as_choice(
      command.add_option("--resize", flags.resize, "how pictures are fitted to the input's size"),
      {"stretch", "crop", "letterbox"})
      ->capture_default_str()
      ->group(kPictureGroup);
  as_count(command.add_option("--short-side", flags.short_side,
                              "with --resize crop: length of the shorter side before cropping"))
      ->group(kPictureGroup);
}

}  // namespace millrace::cli
