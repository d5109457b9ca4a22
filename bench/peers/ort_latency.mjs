// Measures the latency of ONNX Runtime on one model with one thread, and prints one line of JSON with
// milliseconds. Called by queue_bench.
// usage: node ort_latency.mjs MODEL.onnx ITERATIONS   (onnxruntime-node on the module path)
import { createRequire } from 'node:module';
const ort = createRequire(process.cwd() + '/')('onnxruntime-node');

const [, , model, iterations] = process.argv;
const session = await ort.InferenceSession.create(model, {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: 'sequential',
  graphOptimizationLevel: 'all',
});

const feeds = {};
for (const input of session.inputMetadata) {
  const shape = input.shape.map((dim) => (typeof dim === 'number' && dim > 0 ? dim : 1));
  const data = new Float32Array(shape.reduce((a, b) => a * b, 1));
  for (let i = 0; i < data.length; ++i) data[i] = Math.sin(i * 12.9898);
  feeds[input.name] = new ort.Tensor('float32', data, shape);
}

const warmup = 10;
const times = [];
for (let i = 0; i < warmup + Number(iterations); ++i) {
  const start = process.hrtime.bigint();
  await session.run(feeds);
  if (i >= warmup) times.push(Number(process.hrtime.bigint() - start) / 1e6);
}
times.sort((a, b) => a - b);
console.log(JSON.stringify({ median: times[times.length >> 1], min: times[0] }));
