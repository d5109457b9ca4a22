// Generates tokens with ONNX Runtime, for the comparison in tests/samples/decode_test.cpp:
//
//     npm install onnxruntime-node
//     make_decoder decoder.onnx --layers 2 ...
//     node golden.mjs decoder.onnx 5,17,3 24
//
// (run a copy of this file from where the package is installed).

import { InferenceSession, Tensor } from "onnxruntime-node";

const [model, prompt, count] = process.argv.slice(2);
const options = { graphOptimizationLevel: "disabled", logSeverityLevel: 3 };
const session = await InferenceSession.create(model, options);
const integers = (values, dims) => new Tensor("int64", BigInt64Array.from(values, BigInt), dims);

const caches = {};
for (const input of session.inputMetadata)
  if (input.name.startsWith("past_")) {
    const size = input.shape.reduce((a, b) => a * b, 1);
    caches[input.name] = new Tensor("float32", new Float32Array(size), input.shape);
  }

const made = [];
let next = prompt.split(",").map(Number);
let start = 0;
while (made.length < Number(count)) {
  const results = await session.run({
    tokens: integers(next, [1, next.length]),
    start: integers([start], [1]),
    last: integers([next.length - 1], [1]),
    ...caches,
  });
  for (const name of Object.keys(caches)) caches[name] = results[name.replace("past_", "present_")];
  start += next.length;
  const logits = results.logits.data;
  const best = logits.indexOf(Math.max(...logits));
  const second = Math.max(...logits.filter((_, i) => i !== best));
  made.push(best);
  console.error(`${best}, ahead of the next by ${(logits[best] - second).toFixed(4)}`);
  next = [best];
}
console.log(made.join(", "));
