// Calls every method that a definition of the Open Inference Protocol has, on a running server, with
// gRPC's own library for Node, and checks the answers.
//
// usage: node client.js PROTO ADDRESS     a server of a folder with glyphs.onnx, with
//                                        --model-control and --shared-memory
import assert from 'node:assert/strict';
import fs from 'node:fs';
import grpc from '@grpc/grpc-js';
import loader from '@grpc/proto-loader';

const [proto, address] = process.argv.slice(2);
const definition = loader.loadSync(proto, {keepCase: true, longs: Number, defaults: true, oneofs: true});
const Service = grpc.loadPackageDefinition(definition).inference.GRPCInferenceService;
const client = new Service(address, grpc.credentials.createInsecure());
const called = new Set();

const soon = () => ({deadline: Date.now() + 10_000});

function call(method, request, options = soon()) {
  called.add(method);
  return new Promise((resolve, reject) => {
    client[method](request, options, (error, answer) => (error ? reject(error) : resolve(answer)));
  });
}

async function refused(code, promise) {
  const error = await promise.then(() => assert.fail('it was served'), (reason) => reason);
  assert.equal(error.code, grpc.status[code], `${error.code}: ${error.details}`);
  return error;
}

const pixels = Buffer.from(new Float32Array(32 * 32).fill(0.5).buffer);
const image = {name: 'image', datatype: 'FP32', shape: [1, 1, 32, 32]};
const rawRequest = (more = {}) => (
    {model_name: 'glyphs', inputs: [image], raw_input_contents: [pixels], ...more});

function scoresOf(answer) {
  assert.equal(answer.model_name, 'glyphs');
  assert.equal(answer.outputs[0].name, 'scores');
  assert.deepEqual(answer.outputs[0].shape, [1, 40]);
  if (answer.raw_output_contents.length === 0) return answer.outputs[0].contents.fp32_contents;
  const raw = answer.raw_output_contents[0];
  assert.equal(raw.length, 160);
  return Array.from({length: 40}, (_, i) => raw.readFloatLE(4 * i));
}

const checks = {
  async health() {
    assert.equal((await call('ServerLive', {})).live, true);
    assert.equal((await call('ServerReady', {})).ready, true);
    assert.equal((await call('ModelReady', {name: 'glyphs'})).ready, true);
  },

  async descriptions() {
    assert.equal((await call('ServerMetadata', {})).name, 'millrace');
    const model = await call('ModelMetadata', {name: 'glyphs', version: '1'});
    assert.deepEqual(model.inputs, [image]);
    await refused('NOT_FOUND', call('ModelMetadata', {name: 'nobody'}));
  },

  async inference() {
    const raw = scoresOf(await call('ModelInfer', rawRequest({id: 'one'})));
    const values = Array(32 * 32).fill(0.5);
    const typed = await call('ModelInfer', {
      model_name: 'glyphs', inputs: [{...image, contents: {fp32_contents: values}}]});
    assert.deepEqual(scoresOf(typed), raw);
    const classes = await call('ModelInfer', rawRequest({
      outputs: [{name: 'scores', parameters: {classification: {int64_param: 3}}}]}));
    assert.deepEqual(classes.outputs[0].shape, [1, 3]);
    await refused('INVALID_ARGUMENT', call('ModelInfer', rawRequest({raw_input_contents: [pixels.subarray(4)]})));
    await refused('NOT_FOUND', call('ModelInfer', rawRequest({model_name: 'nobody'})));
    await refused('DEADLINE_EXCEEDED', call('ModelInfer', rawRequest(), {deadline: Date.now() - 1}));
  },

  async cancellation() {
    const ended = new Promise((resolve) => {
      client.ModelInfer(rawRequest(), soon(), (error) => resolve(error)).cancel();
    });
    assert.equal((await ended).code, grpc.status.CANCELLED);
    scoresOf(await call('ModelInfer', rawRequest()));
  },

  async stream() {
    called.add('ModelStreamInfer');
    const stream = client.ModelStreamInfer(soon());
    const ids = new Set();
    let errors = 0;
    const done = new Promise((resolve, reject) => {
      stream.on('data', (answer) => {
        if (answer.error_message) errors += 1;
        else scoresOf(answer.infer_response);
        assert.ok(!ids.has(answer.infer_response.id), 'a request is answered once');
        ids.add(answer.infer_response.id);
      });
      stream.on('end', resolve);
      stream.on('error', reject);
    });
    for (let i = 0; i < 200; i += 1)
      stream.write(rawRequest({id: String(i), model_name: i === 7 ? 'nobody' : 'glyphs'}));
    stream.end();
    await done;
    assert.equal(ids.size, 200);
    assert.equal(errors, 1, 'one request fails, and the stream goes on');
  },

  async statistics() {
    const {model_stats: [model]} = await call('ModelStatistics', {name: 'glyphs'});
    assert.ok(model.inference_count > 200);
  },

  async repository() {
    const {models} = await call('RepositoryIndex', {});
    assert.deepEqual(models.map((model) => [model.name, model.state]), [['glyphs', 'READY']]);
    await call('RepositoryModelUnload', {model_name: 'glyphs'});
    await refused('NOT_FOUND', call('ModelInfer', rawRequest()));
    await call('RepositoryModelLoad', {model_name: 'glyphs'});
    scoresOf(await call('ModelInfer', rawRequest()));
  },

  // The pixels lie in a region that the client made, and the scores come to another place in it.
  async sharedMemory() {
    const key = `/millrace-node-client-${process.pid}`;
    const region = {shared_memory_region: {string_param: 'mine'}};
    const file = `/dev/shm${key}`;
    fs.writeFileSync(file, Buffer.concat([pixels, Buffer.alloc(4096)]), {mode: 0o600});
    try {
      await call('SystemSharedMemoryRegister', {name: 'mine', key, byte_size: 8192});
      const {regions} = await call('SystemSharedMemoryStatus', {});
      assert.equal(regions.mine.byte_size, 8192);
      await call('ModelInfer', {
        model_name: 'glyphs',
        inputs: [{...image, parameters: {...region, shared_memory_byte_size: {int64_param: 4096}}}],
        outputs: [{name: 'scores', parameters: {...region, shared_memory_offset: {int64_param: 4096},
          shared_memory_byte_size: {int64_param: 160}}}]});
      await call('SystemSharedMemoryUnregister', {name: 'mine'});
      const given = rawRequest({parameters: {binary_data_output: {bool_param: true}}});
      const expected = (await call('ModelInfer', given)).raw_output_contents[0];
      assert.deepEqual(fs.readFileSync(file).subarray(4096, 4096 + 160), expected);
    } finally {
      fs.unlinkSync(file);
    }
  },
};

const needed = {stream: 'ModelStreamInfer', statistics: 'ModelStatistics', repository: 'RepositoryIndex',
  sharedMemory: 'SystemSharedMemoryStatus'};
for (const [name, check] of Object.entries(checks)) {
  if (needed[name] && !(needed[name] in Service.service)) continue;
  await check();
  console.log(`${name}: as it should be`);
}
client.close();
const left = Object.keys(Service.service).filter((method) => !called.has(method));
assert.deepEqual(left, [], 'methods that nobody called');
console.log(`${called.size} methods: ${[...called].join(', ')}`);
