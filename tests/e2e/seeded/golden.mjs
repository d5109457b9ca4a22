// Makes the golden outputs of seeded_models_test.cpp by ONNX Runtime, without its optimisations:
//
//     npm install onnxruntime-node
//     ninja -C build/release write_seeded_model
//     node tests/e2e/seeded/golden.mjs build/release/tests/write_seeded_model ../shared/models/models
//
// (run a copy of this file from where the package is installed, and name the folder to write to as
// the third argument). Of each output the file NAME.bin has every fourth element, as float32.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { InferenceSession, Tensor } from "onnxruntime-node";

const [program, models, folder = dirname(fileURLToPath(import.meta.url))] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), "seeded-"));

for (const name of ["densenet121", "inception_v2", "resnet50", "shufflenet", "squeezenet"]) {
  const model = join(scratch, "model.onnx");
  const input = join(scratch, "input.bin");
  execFileSync(program, [join(models, `light_${name}.onnx`), model, input]);
  const options = { graphOptimizationLevel: "disabled", logSeverityLevel: 3 };
  const session = await InferenceSession.create(model, options);
  const picture = new Float32Array(new Uint8Array(readFileSync(input)).buffer);
  const feeds = { [session.inputNames[0]]: new Tensor("float32", picture, [1, 3, 224, 224]) };
  const scores = (await session.run(feeds))[session.outputNames[0]].data;
  const kept = scores.filter((_, i) => i % 4 === 0);
  writeFileSync(join(folder, `${name}.bin`), Buffer.from(kept.buffer, kept.byteOffset, kept.byteLength));
  console.log(name, scores.length, Math.min(...scores), Math.max(...scores));
}
rmSync(scratch, { recursive: true });
