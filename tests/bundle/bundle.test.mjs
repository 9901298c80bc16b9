// The MCP bundle that make.sh has packed beside this file: valid by its makers' tool, it unpacks to a server that
// runs, and server.json is true of it.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';

import Ajv from 'ajv';
import addFormats from 'ajv-formats';

const folder = import.meta.dirname ?? new URL('.', import.meta.url).pathname;
const bundle = join(folder, 'project-actions.mcpb');
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'bundle-')));
after(() => rmSync(scratch, { recursive: true }));

const mcpb = (...args) =>
  execFileSync(join(folder, 'node_modules/.bin/mcpb'), args, { encoding: 'utf8', stdio: 'pipe' });
const unpacked = join(scratch, 'unpacked');
mcpb('unpack', bundle, unpacked);
const manifest = JSON.parse(readFileSync(join(unpacked, 'manifest.json'), 'utf8'));
const version = execFileSync(process.env.PROJECT_ACTIONS, ['--version'], { encoding: 'utf8' }).trim();

test('the manifest is valid, of this version, and the validator looks', () => {
  assert.equal(`project-actions ${manifest.version}`, version);
  assert.match(mcpb('validate', join(unpacked, 'manifest.json')), /passes/);
  for (const name of Object.keys(manifest.user_config)) {
    const spoiled = structuredClone(manifest);
    delete spoiled.user_config[name].description;
    const file = join(scratch, 'spoiled.json');
    writeFileSync(file, JSON.stringify(spoiled));
    assert.throws(() => mcpb('validate', file), undefined, name);
  }
});

// What a client makes of mcp_config.
function configured(values) {
  const fill = (text) => text.replace(/\$\{(?:user_config\.)?(\w+)\}/g, (_, name) => {
    assert.ok(name in values, name);
    return values[name];
  });
  const { command, args, env } = manifest.server.mcp_config;
  const filled = Object.entries(env).map(([name, value]) => [name, fill(value)]);
  return { command: fill(command), args: args.map(fill), env: Object.fromEntries(filled) };
}

const home = join(scratch, 'home');
const project = join(home, 'project');
mkdirSync(project, { recursive: true });
writeFileSync(join(project, 'Makefile'), '.PHONY: test\ntest:\n\t@echo it runs\n');

// The server as a client starts it whose user has named `tools`; `use` gets a function that calls one of its tools.
async function withServer(tools, use) {
  const { command, args, env } = configured({ __dirname: unpacked, root: project, tools });
  const server = spawn(command, args, { cwd: '/', env: { ...process.env, HOME: home, ...env } });
  let errors = '';
  server.stderr.on('data', (data) => { errors += data; });
  const ended = new Promise((resolve) => { server.on('close', resolve); });
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  let id = 0;
  const request = async (method, params) => {
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })}\n`);
    for (;;) {
      const { value, done } = await lines.next();
      assert.ok(!done, `the server has ended: ${errors}`);
      const message = JSON.parse(value);
      if (message.id === id) return message.result;
    }
  };
  try {
    const hello = await request('initialize',
      { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bundle', version: '1' } });
    assert.equal(hello.serverInfo.version, manifest.version);
    await use(async (name, toolArguments) =>
      (await request('tools/call', { name, arguments: toolArguments })).structuredContent);
  } finally {
    server.stdin.end();
    assert.equal(await ended, 0, errors);
  }
}

test('the unpacked server runs a target', () =>
  withServer(manifest.user_config.tools.default, async (call) => {
    const made = await call('make', { target: 'test' });
    assert.equal(made.data?.stdout, 'it runs\n', JSON.stringify(made));
    assert.equal((await call('bash', { command: 'true' })).error.code, 'TOOL_DISABLED');
  }));

test('the programs need nothing of the machine', (t) => {
  const headers = (name) => execFileSync('readelf', ['-ldW', join(unpacked, 'server', name)], { encoding: 'utf8' });
  const isStatic = (text) => !/INTERP|NEEDED/.test(text) && /LOAD/.test(text);
  assert.ok(!isStatic(execFileSync('readelf', ['-ldW', process.execPath], { encoding: 'utf8' })), 'node does');
  assert.ok(isStatic(headers('project-actions-worker')));
  if (process.env.SHARED === 'yes') return t.skip('this is the server of the tests; `make mcpb` packs another one');
  assert.ok(isStatic(headers('project-actions')));
});

test('whoever names no tool has those that only read', () =>
  withServer('', async (call) => {
    assert.equal((await call('make', { target: 'test' })).error.code, 'TOOL_DISABLED');
    assert.equal((await call('make_targets', {})).data.targets[0].name, 'test');
  }));

const entry = JSON.parse(readFileSync(join(folder, 'server.json'), 'utf8'));

test('server.json names this bundle', () => {
  const [offered] = entry.packages;
  assert.equal(offered.fileSha256, createHash('sha256').update(readFileSync(bundle)).digest('hex'));
  assert.equal(entry.version, manifest.version);
  assert.equal(offered.version, manifest.version);
  assert.ok(offered.identifier.endsWith(`/v${manifest.version}/project-actions.mcpb`));
});

test('server.json is of the registry\'s schema', (t) => {
  const directory = process.env.PA_MCP_SCHEMA_DIR ?? '';
  const file = join(directory, 'server-2025-12-11.json');
  if (directory === '' || !existsSync(file)) {
    return t.skip('PA_MCP_SCHEMA_DIR does not name a folder with server-2025-12-11.json');
  }
  const schema = JSON.parse(readFileSync(file, 'utf8'));
  assert.equal(entry.$schema, schema.$id);
  const validate = addFormats(new Ajv({ strict: false })).compile(schema);
  assert.ok(validate(entry), JSON.stringify(validate.errors));
  const spoil = [
    (copy) => delete copy.name, (copy) => delete copy.version, (copy) => { copy.name = 'project-actions'; },
    (copy) => { copy.description += ' '.repeat(100); }, (copy) => delete copy.packages[0].transport,
    (copy) => { copy.packages[0].fileSha256 = '@SHA256@'; }];
  for (const change of spoil) {
    const copy = structuredClone(entry);
    change(copy);
    assert.ok(!validate(copy), change.toString());
  }
});
