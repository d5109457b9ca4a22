// Classifies the held-back pictures with ONNX Runtime: a check of glyphs.onnx that
// shares no code with the training.
//
//     npm install onnxruntime-node && node check.mjs [folder]
//
// (install it in this folder or in one above it, or run a copy of this file from
// where it is installed and name this folder)

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { InferenceSession, Tensor } from "onnxruntime-node";

const folder = process.argv[2] ?? dirname(fileURLToPath(import.meta.url));

/** The bytes of a version 1.0 .npy file of uint8, after its header. */
function readBytes(name) {
  const file = readFileSync(join(folder, name));
  return file.subarray(10 + file.readUInt16LE(8));
}

const classes = readFileSync(join(folder, "classes.txt"), "ascii").trimEnd().split("\n");
const images = readBytes("heldback_images.npy");
const labels = readBytes("heldback_labels.npy");
const session = await InferenceSession.create(join(folder, "glyphs.onnx"));

const pixels = Float32Array.from(images, (grey) => grey / 255);
const image = new Tensor("float32", pixels, [labels.length, 1, 32, 32]);
const { scores } = await session.run({ image });

let right = 0;
labels.forEach((label, i) => {
  const row = scores.data.subarray(i * classes.length, (i + 1) * classes.length);
  right += row.indexOf(Math.max(...row)) === label;
});
console.log(`${right} of ${labels.length} right, ${((100 * right) / labels.length).toFixed(2)} %`);
