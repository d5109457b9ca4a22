#!/usr/bin/env bash
# Lays out below ROOT what programs for the board expect at fixed paths: models, their labels, a bitstream
# (an empty file), and a folder for each sample of VART with its program and, where it reads JSON, a configuration
# that names the models; for INT8 classifiers and YOLOX detectors also the configurations of the vendor's names.
# scripts/on-board.sh runs commands that see all this where it is on a board. May be run again: files that it made
# are replaced, others stay.
set -euo pipefail
shopt -s inherit_errexit # most of the work happens in command substitutions
project=$(dirname "$(dirname "$(realpath "$0")")")

usage() {
  cat <<'USAGE'
usage: scripts/stage-board.sh ROOT --model NAME=MODEL... [options] [-- OPTION...]

  ROOT                 the folder; / in a container that has nothing else to do
  --model NAME=MODEL   becomes ROOT/etc/vai/models/NAME: an .onnx file, which is compiled, a .rai file, or a
                       directory with vaiml_par_0. May be given several times
  --labels [NAME=]FILE the class names of that model, or of all others, one per line. May be given several times
  --data PATH          a picture, another input file, or a folder of them. May be given several times; the first JPEG
                       file is classification.jpg and detections.jpg among the data of each model, too
  --precision P        what .onnx files are compiled to: int8, bf16, fp16 or fp32. Otherwise what the model's name
                       ends with (resnet50_int8), or else bf16
  --calibrate DATA     pictures, or a folder of them, from which a model that is not quantised becomes INT8; its
                       inputs and outputs get the board's types. May be given several times
  --millrace PROGRAM   what compiles; the programs of the samples lie beside it. Otherwise that of
                       build/release, or else that of PATH
  -- OPTION...         for `millrace compile` of all models, besides the precision

A value may also follow its option behind a '=', as in --precision=int8.
USAGE
}

fail() {
  printf 'stage-board: %s\n' "$*" >&2
  exit 1
}

refuse() {
  printf 'stage-board: %s\n\n' "$*" >&2
  usage >&2
  exit 2
}

root=
names=()
declare -A model_of=()
declare -A labels_of=() # of a model's name; of all others without a name
data=()
precision=
calibration=()
millrace=
compile_options=()

take_model() {
  local name=${1%%=*} file=${1#*=}
  [[ $1 == *=* && -n $file ]] || refuse "--model takes NAME=MODEL, not $1"
  [[ $name =~ ^[A-Za-z0-9_][A-Za-z0-9._-]*$ ]] ||
    refuse "--model $1: the name is that of a folder, of letters, digits, '.', '_' and '-'"
  [[ -z ${model_of[$name]:-} ]] || refuse "--model $name is given twice"
  names+=("$name")
  model_of[$name]=$file
}

take_labels() {
  local name=
  [[ $1 != *=* || -e $1 ]] || name=${1%%=*}
  labels_of[${name:-*}]=${1#"${name:+$name=}"}
}

take_precision() {
  [[ $1 == @(int8|bf16|fp16|fp32) ]] || refuse "--precision takes int8, bf16, fp16 or fp32, not $1"
  precision=$1
}

parse() {
  while (($#)); do
    [[ $1 != --[a-z]*=* ]] || set -- "${1%%=*}" "${1#*=}" "${@:2}"
    case $1 in
      --model | --labels | --data | --precision | --calibrate | --millrace)
        (($# > 1)) || refuse "$1 takes a value"
        ;;&
      --model) take_model "$2" && shift ;;
      --labels) take_labels "$2" && shift ;;
      --precision) take_precision "$2" && shift ;;
      --calibrate) calibration+=("$2") && shift ;;
      --data) data+=("$2") && shift ;;
      --millrace) millrace=$2 && shift ;;
      -h | --help) usage && exit 0 ;;
      --) compile_options=("${@:2}") && break ;;
      -*) refuse "unknown option $1" ;;
      *) [[ -z $root ]] || refuse "one ROOT, not $root and $1" ;;&
      *) root=$1 ;;
    esac
    shift
  done
  [[ -n $root ]] || refuse "ROOT is missing"
  ((${#names[@]})) || refuse "--model is missing"
}

is_directory_model() { [[ -d $1/vaiml_par_0 ]]; }

# Whether the model that is given is the one that is staged under this name already.
is_in_place() {
  local name=$1 file=$(realpath "${model_of[$1]}") place=$(realpath -m "$root/etc/vai/models/$1")
  [[ $file == "$place" || $file == "$place/$name.rai" ]]
}

# A compiled model of another name would make two of one folder, or go with what is replaced there.
is_in_the_way() {
  local file=$(realpath "${model_of[$1]}") place=$(realpath -m "$root/etc/vai/models/$1")
  [[ $file == "$place"/* && $file != *.onnx ]] && ! is_in_place "$1"
}

# Everything that can be wrong with the arguments is found before anything is written.
check() {
  local name file
  [[ ! -e $root || -d $root ]] || fail "$root is not a folder"
  for name in "${names[@]}"; do
    file=${model_of[$name]}
    [[ -e $file ]] || fail "the model $file does not exist"
    [[ -f $file && $file == *.@(onnx|rai) ]] || is_directory_model "$file" ||
      fail "the model $file is neither an .onnx or .rai file nor a directory with vaiml_par_0"
    ! is_in_the_way "$name" ||
      fail "the model $file lies where the staged $name belongs; move it to another folder"
  done
  for name in "${!labels_of[@]}"; do
    [[ $name == '*' || -n ${model_of[$name]:-} ]] || fail "--labels names no model that is staged: $name"
    [[ -f ${labels_of[$name]} ]] || fail "the label file ${labels_of[$name]} does not exist"
  done
  for file in "${calibration[@]}"; do
    [[ -e $file ]] || fail "the data $file does not exist"
  done
  for file in "${data[@]}"; do
    [[ -e $file ]] || fail "the data $file does not exist"
  done
}

find_millrace() {
  [[ -n $millrace || ! -x $project/build/release/bin/millrace ]] ||
    millrace=$project/build/release/bin/millrace
  millrace=$(command -v "${millrace:-millrace}") ||
    fail "there is no millrace program: 'make shipped' builds it, and --millrace names another"
  millrace=$(realpath "$millrace")
}

# Copies a file to a path or into a folder, unless it is the one that is there: what an earlier run
# staged may be given again.
put() {
  local target=$2
  [[ ! -d $target ]] || target+=/$(basename "$1")
  [[ $1 -ef $target ]] || cp "$1" "$target"
}

# A folder of the tree, made if it is missing.
folder() {
  mkdir -p "$root/$1"
  printf '%s\n' "$root/$1"
}

# What the model named $1 is compiled to.
precision_of() {
  if [[ -n $precision ]]; then
    printf '%s' "$precision"
  elif [[ $1 == *_@(int8|bf16|fp16|fp32) ]]; then
    printf '%s' "${1##*_}"
  else
    printf 'bf16'
  fi
}

compile() { "$millrace" compile "$@" "${compile_options[@]}"; }

# A quantised model is compiled as it is; one of floating point is quantised, by what `millrace inspect` proposes
# for its pictures.
compile_int8() {
  local name=$1 file=$2 archive=$3 summary
  summary=$(compile "$file" -o "$archive")
  if [[ $summary == *', int8, batch '* ]]; then
    printf '%s\n' "$summary"
    return
  fi
  ((${#calibration[@]})) ||
    fail "$name is to be INT8, and $file is not quantised: --calibrate names pictures for it, --precision bf16 goes without"
  local options source sources=()
  for source in "${calibration[@]}"; do
    sources+=(--calibrate "$source")
  done
  options=$("$project/scripts/calibration_options.py" "$millrace" "$archive" "${compile_options[@]}")
  # One option per word: none of them has blanks.
  # shellcheck disable=SC2086
  compile "$file" -o "$archive" --precision int8 --power-of-two-scales $options "${sources[@]}"
}

compile_model() {
  local wanted
  wanted=$(precision_of "$1")
  if [[ " ${compile_options[*]} " == *' --precision '* ]]; then
    compile "$2" -o "$3"
  elif [[ $wanted == int8 ]]; then
    compile_int8 "$@"
  else
    compile "$2" -o "$3" --precision "$wanted"
  fi
}

# Makes the model below the folder $2; one that is compiled already is read before it replaces another.
make_model() {
  local name=$1 file=${model_of[$1]} place=$2/$1 summary
  mkdir "$place"
  case $file in
    *.onnx)
      summary=$(compile_model "$name" "$file" "$place/$name.rai")
      printf '%s\n' "${summary//"$2"/"$root/etc/vai/models"}"
      ;;
    *.rai)
      "$millrace" inspect "$file" >/dev/null
      cp "$file" "$place/$name.rai"
      ;;
    *)
      "$millrace" inspect "$file" >/dev/null
      cp -r "$file/." "$place"
      ;;
  esac
}

# What an earlier run staged in another form must not be found instead of the model made below $2.
put_model_in_place() {
  local name=$1 place
  place=$(folder "etc/vai/models/$name")
  rm -rf "$place"/vaiml_* "$place/$name.rai" "$place/connectivity_metadata.json"
  cp -r "$2/$name/." "$place"
}

# All models are made before the first is replaced: those of an earlier run outlive a compilation that fails, and
# may be given as models under other names.
stage_models() {
  local name made=()
  work=$(mktemp -d "$(folder etc/vai/models)/.new-XXXXXX")
  trap 'rm -rf "$work"' EXIT
  for name in "${names[@]}"; do
    if is_in_place "$name"; then continue; fi
    make_model "$name" "$work"
    made+=("$name")
  done
  for name in "${made[@]}"; do put_model_in_place "$name" "$work"; done
}

# Both names that configurations of the vendor have for labels. vart_zerocopy has the path of one model's in its
# source.
stage_labels() {
  local name place labels
  for name in "${names[@]}" resnet50_int8; do
    labels=${labels_of[$name]:-${labels_of['*']:-}}
    [[ -n $labels ]] || continue
    place=$(folder "etc/vai/models/$name/data")
    put "$labels" "$place/imagenet-classes-1000.txt"
    put "$labels" "$place/coco_data_labels.txt"
  done
}

# The picture that commands of the vendor name.
stage_picture() {
  local file name place
  for file in "${data[@]}"; do
    [[ -f $file && ${file,,} == *.@(jpg|jpeg) ]] || continue
    for name in "${names[@]}"; do
      place=$(folder "etc/vai/models/$name/data")
      put "$file" "$place/classification.jpg"
      put "$file" "$place/detections.jpg"
    done
    return
  done
}

stage_data() {
  local place path
  place=$(folder home/root/samples/data)
  for path in "${data[@]}"; do
    if [[ -f $path ]]; then
      put "$path" "$place"
    elif [[ ! $path -ef $place ]]; then
      cp -r "$path/." "$place"
    fi
  done
}

stage_samples() {
  local makefile sample program
  for makefile in "$project"/samples/{*vart*,x_plus_ml}/Makefile; do
    sample=$(basename "$(dirname "$makefile")")
    program=$(dirname "$millrace")/$sample
    [[ ! -x $program ]] || ln -sfn "$program" "$(folder "home/root/samples/$sample")/$sample"
  done
  # Under the name that the vendor's commands have for it, too.
  ln -sfn x_plus_ml "$(folder home/root/samples/x_plus_ml)/x_plus_ml_vart"
}

parse "$@"
root=$(realpath -m "$root")
root=${root%/}
check
find_millrace
stage_models
stage_labels
stage_data
stage_picture
stage_samples
: >>"$(folder run/media/mmcblk0p1)/x_plus_ml.xclbin"
"$project/scripts/configure_board.py" "$millrace" "${root:-/}" "${names[@]}"
printf 'staged %s\n' "${root:-/}"
[[ -z $root ]] || printf 'commands that expect these files: %q %q COMMAND...\n' \
  "$project/scripts/on-board.sh" "$root"
