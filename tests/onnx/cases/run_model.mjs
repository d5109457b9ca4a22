// Prints, as JSON, the first output that ONNX Runtime computes for a model, without its
// optimisations: node run_model.mjs MODEL.onnx < INPUTS, a list of {name, type, dims, data}. For
// write_cases.py, which says where it finds the package.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { InferenceSession, Tensor } = createRequire(process.cwd() + "/")("onnxruntime-node");
const kArrays = { float32: Float32Array, int64: BigInt64Array, int32: Int32Array, uint8: Uint8Array, int8: Int8Array, int16: Int16Array, bool: Uint8Array };

// How some operators round follows from how many threads share the samples of a batch.
const options = { graphOptimizationLevel: "disabled", logSeverityLevel: 3, intraOpNumThreads: 1 };
const session = await InferenceSession.create(process.argv[2], options);
const feeds = {};
for (const { name, type, dims, data } of JSON.parse(readFileSync(0))) {
  const numbers = type === "int64" ? data.map(BigInt) : data;
  feeds[name] = new Tensor(type, kArrays[type].from(numbers), dims);
}
const results = await session.run(feeds);
console.log(JSON.stringify(Array.from(results[session.outputNames[0]].data)));
