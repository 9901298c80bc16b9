const assert = require('node:assert');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { execFileSync, fork } = require('node:child_process');
const { once } = require('node:events');
const test = require('node:test');
const { Worker } = require('node:worker_threads');
const { countWords } = require('../words');

const worker = path.join(__dirname, 'worker.js');

test('counts', () => assert.strictEqual(countWords(' three small words '), 3));

test('in a thread', async () => {
  const [count] = await once(new Worker(worker, { workerData: 'two words' }), 'message');
  assert.strictEqual(count, 2);
});

test('in another process', async () => {
  const child = fork(worker);
  child.send('one');
  const [count] = await once(child, 'message');
  assert.strictEqual(count, 1);
});

test('a program and a temporary directory', () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'words-'));
  fs.writeFileSync(path.join(directory, 'text'), 'x');
  assert.strictEqual(execFileSync('cat', [path.join(directory, 'text')], { encoding: 'utf8' }), 'x');
  fs.rmSync(directory, { recursive: true });
});
