// What worker.test.js starts: as a thread and as a process.
const { parentPort, workerData } = require('node:worker_threads');
const { countWords } = require('../words');

if (parentPort) {
  parentPort.postMessage(countWords(workerData));
} else if (process.send) {
  process.on('message', (text) => process.send(countWords(text), () => process.exit()));
}
