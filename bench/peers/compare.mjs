// One-thread latency of Millrace beside ONNX Runtime: alternating rounds on one pinned core, the
// ratio taken round by round. Run from a folder where `npm install onnxruntime-node@1.30.0
// --ignore-scripts` was done.
// usage: node compare.mjs MILLRACE_PROGRAM ROUNDS ITERATIONS MODEL.onnx...
import { execFileSync } from 'node:child_process';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [, , millrace, rounds, iterations, ...models] = process.argv;
const here = dirname(fileURLToPath(import.meta.url));

const pinned = (...command) =>
  JSON.parse(execFileSync('taskset', ['-c', '0', ...command], { encoding: 'utf8' }));
const ours = (model, precision) =>
  pinned(millrace, 'bench', model, '--lanes', '1', '--in-flight', '1', '-n', iterations,
    '--precision', precision, '--json').latency_ms.median;
const theirs = (model) => pinned('node', join(here, 'ort_latency.mjs'), model, iterations).median;
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

console.log('model                      ORT ms   fp32 ms  ratio   bf16 ms  ratio   (ratio: ORT / ours)');
for (const model of models) {
  const rows = [];
  for (let round = 0; round < Number(rounds); ++round)
    rows.push({ ort: theirs(model), fp32: ours(model, 'fp32'), bf16: ours(model, 'bf16') });
  const column = (pick) => median(rows.map(pick));
  const fixed = (value, digits) => value.toFixed(digits).padStart(8);
  console.log(basename(model, '.onnx').padEnd(24),
    fixed(column((r) => r.ort), 2), fixed(column((r) => r.fp32), 2),
    fixed(column((r) => r.ort / r.fp32), 2), fixed(column((r) => r.bf16), 2),
    fixed(column((r) => r.ort / r.bf16), 2));
}
