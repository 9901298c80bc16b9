// Real clients against the real server: the official JavaScript client in every negotiation mode and by every way
// in (standard input, HTTP, `connect`), and the Inspector's command line in both eras. PROJECT_ACTIONS names the server's program.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createTaskSessionFromClient, resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client';
import * as tasks from '@modelcontextprotocol/ext-tasks/core/v2';

const server = process.env.PROJECT_ACTIONS;
const options = ['serve', '--enable', 'all'];
const projects = [];
after(() => projects.forEach((project) => rmSync(project, { recursive: true })));

function sampleProject() {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'clients-')));
  projects.push(project);
  const makefile = [
    '.PHONY: greet fail flood',
    'greet: ## say hello',
    '\t@echo hello; sleep 0.3; echo world',
    'fail:',
    '\t@echo broken >&2; exit 3',
    'flood:',
    '\t@seq 1 100000',
    '',
  ];
  writeFileSync(join(project, 'Makefile'), makefile.join('\n'));
  const git = (...args) => execFileSync('git', args, { cwd: project, encoding: 'utf8' });
  git('init', '-q');
  git('config', 'user.name', 'Client Test');
  git('config', 'user.email', 'client@example.org');
  return { project, git };
}

// A server that listens by HTTP and on a Unix socket, in a home of its own.
async function listening(project, more = []) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'pa-home-')));
  projects.push(home);
  const environment = { ...process.env, HOME: home };
  const token = execFileSync(server, ['token', 'new', 'test', '--expires', '1h'],
    { env: environment, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  const child = spawn(server, [...options, ...more, '--listen', 'http://127.0.0.1:0', '--listen',
    `unix:${home}/sock`], { cwd: project, env: environment, stdio: ['ignore', 'ignore', 'pipe'] });
  const url = await new Promise((resolve, reject) => {
    let said = '';
    child.stderr.on('data', (data) => {
      said += data;
      const found = said.match(/listening on (http:\S+)[^]*listening on unix/);
      if (found) resolve(found[1]);
    });
    child.on('exit', () => reject(new Error(said)));
  });
  const stop = () => new Promise((resolve) => {
    child.on('exit', resolve);
    child.kill();
  });
  return { url, token, environment, socket: `unix:${home}/sock`, stop };
}

// The ways in. `close` ends what the way has started.
const doors = {
  stdio: async (project, more) => ({
    transport: new StdioClientTransport(
      { command: server, args: [...options, ...more], cwd: project, stderr: 'inherit' }),
    close: async () => {},
  }),
  HTTP: async (project, more) => {
    const { url, token, stop } = await listening(project, more);
    const headers = { Authorization: `Bearer ${token}` };
    return {
      transport: new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
      close: stop,
    };
  },
  connect: async (project, more) => {
    const { socket, environment, stop } = await listening(project, more);
    return {
      transport: new StdioClientTransport({ command: server, args: ['connect', socket], cwd: '/',
        env: environment, stderr: 'inherit' }),
      close: stop,
    };
  },
};
const ways = (modes) => Object.keys(doors).flatMap((door) => modes.map((mode) => {
  const era = typeof mode === 'string' ? mode : `pinned to ${mode.pin}`;
  return { door, mode, name: door === 'stdio' ? era : `${era}, by ${door}` };
}));

async function connected(project, { door, mode }, more = [], rest = {}, prepare = () => {}) {
  const client = new Client({ name: 'clients-test', version: '1' },
    { versionNegotiation: { mode }, ...rest });
  prepare(client);
  const { transport, close } = await doors[door](project, more);
  await client.connect(transport);
  const closeClient = client.close.bind(client);
  client.close = async () => {
    await closeClient();
    await close();
  };
  return client;
}

for (const way of ways(['legacy', 'auto', { pin: '2026-07-28' }])) {
  test(`official client, ${way.name}`, async () => {
    const { project, git } = sampleProject();
    const client = await connected(project, way);
    try {
      const { tools } = await client.listTools();
      assert.deepEqual(tools.map((tool) => tool.name), [
        'make_targets', 'make', 'makefile_generate', 'git_add', 'git_commit', 'read', 'write', 'edit', 'delete', 'glob', 'grep', 'bash', 'project_actions', 'pipeline', 'batch', 'job']);

      const call = (tool, args, more) => client.callTool({ name: tool, arguments: args }, more);
      const targets = await call('make_targets', {});
      assert.deepEqual(targets.structuredContent.data.targets,
        [{ name: 'greet', description: 'say hello' }, { name: 'fail' }, { name: 'flood' }]);

      const progress = [];
      const greeted = await call('make', { target: 'greet' },
        { onprogress: (notification) => progress.push(notification.message) });
      assert.equal(greeted.structuredContent.data.stdout, 'hello\nworld\n');
      assert.equal(greeted.isError ?? false, false);
      assert.equal(progress[0], 'hello');

      const failed = await call('make', { target: 'fail' });
      assert.equal(failed.isError, true);
      assert.equal(failed.structuredContent.error.code, 'COMMAND_FAILED');
      assert.match(failed.content[0].text, /broken/);

      const flood = await call('make', { target: 'flood' });
      const link = flood.content.find((content) => content.type === 'resource_link');
      const full = await client.readResource({ uri: link.uri });
      assert.match(full.contents[0].text, /^1\n2\n3\n/);

      await call('git_add', { paths: ['Makefile'] });
      await call('git_commit', { message: 'From a client  \n# kept\n' });
      assert.equal(git('log', '-1', '--format=%B').trimEnd(), 'From a client  \n# kept');

      await assert.rejects(call('no_such_tool', {}));
      const wrong = await call('make', { target: 7 });
      assert.equal(wrong.structuredContent.error.code, 'INVALID_ARGUMENT');
    } finally {
      await client.close();
    }
  });
}

// The client's own handling of questions, in both eras: it shows them to a handler, and carries the answer back.
for (const way of ways(['legacy', { pin: '2026-07-28' }])) {
  test(`official client is asked for an approval, ${way.name}`, async () => {
    const { project } = sampleProject();
    const outside = mkdtempSync(join(tmpdir(), 'pa-policy-'));
    projects.push(outside);
    const policy = join(outside, 'ask.yaml');
    writeFileSync(policy, 'version: 1\npermissions: [{tool: make, target: greet, decision: ask}]\n' +
      'pipeline: {tools: [make]}\n');
    const asked = [];
    const answers = ['decline', 'accept', 'accept'];
    const ask = (client) => client.setRequestHandler('elicitation/create', async (request) => {
      asked.push(request.params.message);
      const action = answers.shift();
      return action === 'accept' ? { action, content: { approve: true } } : { action };
    });
    const client = await connected(project, way, ['--policy', policy],
      { capabilities: { elicitation: {} } }, ask);
    try {
      const greet = () => client.callTool({ name: 'make', arguments: { target: 'greet' } });
      assert.equal((await greet()).structuredContent.error.code, 'APPROVAL_DECLINED');
      assert.equal((await greet()).structuredContent.data.stdout, 'hello\nworld\n');
      assert.equal(asked.length, 2);
      assert.match(asked[0], /    make greet\n/);
      const steps = [
        { id: 'files', tool: 'glob', args: { pattern: '*' } },
        { id: 'greet', tool: 'make', args: { target: 'greet' } }];
      const piped = await client.callTool({ name: 'pipeline', arguments: { steps } });
      assert.equal(piped.structuredContent.data.stdout, 'hello\nworld\n');
      assert.match(asked[2], /^Allow step 'greet' of a pipeline\?/);
    } finally {
      await client.close();
    }
  });
}

// What the tasks client asks of its host: requests of its own beside those of the client, on the same connection.
class SharedConnection extends StdioClientTransport {
  #waiting = new Map();
  requests = [];
  // The client calls it before its own, which ignores what it has not asked.
  onmessage = (message) => {
    const settle = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    settle?.(message.error ? { kind: 'error', error: message.error } : { kind: 'result', result: message.result });
  };
  dispatch = (request) => new Promise((resolve) => {
    const id = `task-${this.requests.push(request)}`;
    this.#waiting.set(id, (response) => {
      request.response = response;
      resolve(response);
    });
    this.send({ jsonrpc: '2.0', id, ...request });
  });
}

async function taskSession(lines, onInputRequest) {
  const { project } = sampleProject();
  const outside = mkdtempSync(join(tmpdir(), 'pa-policy-'));
  projects.push(outside);
  const policy = join(outside, 'tasks.yaml');
  writeFileSync(policy, `version: 1\n${lines}`);
  const connection = new SharedConnection(
    { command: server, args: [...options, '--policy', policy], cwd: project, stderr: 'inherit' });
  const clientInfo = { name: 'tasks-test', version: '1' };
  const client = new Client(clientInfo, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(connection);
  const session = createTaskSessionFromClient(client, {
    endpointId: 'test', rawDispatch: connection.dispatch, onInputRequest,
    v2RequestFraming: { protocolVersion: '2026-07-28', clientInfo, clientCapabilities: { elicitation: {} } } });
  return { project, client, session, connection };
}

test('official tasks client: a long call is a task, a short one is not', async () => {
  const { project, client, session, connection } = await taskSession('jobs: {detach_after: 1s}\n');
  try {
    const short = await session.callTool('bash', { command: 'echo short' });
    assert.equal(short.kind, 'immediate');
    const long = await session.callTool('bash', { command: 'echo long; until [ -e go ]; do sleep 0.01; done; exit 3' });
    assert.equal(long.kind, 'task');
    const job = await session.callTool('job', { action: 'read', id: long.handle.taskId });
    assert.match(resultFromTaskOutcome(await job.result()).structuredContent.data.lines, /^long/);
    writeFileSync(join(project, 'go'), '');
    const { outcome, lastTask } = await long.settle();
    assert.equal(lastTask.status, 'completed');
    const result = resultFromTaskOutcome(outcome);
    assert.equal(result.isError, true);
    assert.equal(result.structuredContent.data.exit_code, 3);

    const endless = await session.callTool('bash', { command: 'touch begun; sleep 1000' });
    await endless.cancel();
    assert.equal((await endless.settle()).outcome.status, 'cancelled');
    await assert.rejects(session.task('0123456789abcdef').snapshot(), { code: -32602 });

    const ofMethod = (method) => connection.requests.filter((request) => request.method === method)
      .map((request) => request.response).filter(({ kind }) => kind === 'result').map(({ result: value }) => value);
    for (const state of ofMethod('tasks/get')) assert.ok(tasks.isDetailedTaskV2(state), JSON.stringify(state));
    const created = ofMethod('tools/call').filter((value) => value.resultType === 'task');
    assert.equal(created.length, 2);
    for (const task of created) assert.ok(tasks.isCreateTaskResultV2(task), JSON.stringify(task));
  } finally {
    await session.close();
    await client.close();
  }
});

test('official tasks client: questions before and within a task', async () => {
  const asked = [];
  const { client, session } = await taskSession(
    'jobs: {detach_after: 1s}\npipeline: {tools: [make, bash]}\n' +
    'permissions: [{tool: make, target: greet, decision: ask}]\n',
    async (request, context) => {
      asked.push(`${context.scope}: ${request.params.message.split('\n')[0]}`);
      return { action: 'accept', content: { approve: true } };
    });
  try {
    const steps = [
      { id: 'first', tool: 'make', args: { target: 'greet' } },
      { id: 'slow', tool: 'bash', args: { command: 'sleep 2; echo x >> count' } },
      { id: 'second', tool: 'make', args: { target: 'greet' } },
      { id: 'count', tool: 'bash', args: { command: 'cat count' } }];
    const call = await session.callTool('pipeline', { steps });
    assert.equal(call.kind, 'task');
    const { outcome } = await call.settle();
    assert.equal(resultFromTaskOutcome(outcome).structuredContent.data.stdout, 'x\n');
    assert.deepEqual(asked, ["request: Allow step 'first' of a pipeline?", "task: Allow step 'second' of a pipeline?"]);
  } finally {
    await session.close();
    await client.close();
  }
});

// The client checks structuredContent against the outputSchema that it has from listTools, and throws if it does not
// fit.
test('every tool fits its schema under every `result`', async () => {
  const { project } = sampleProject();
  const client = await connected(project, { door: 'stdio', mode: 'auto' });
  const lines = { filter: '. CONTAINS o', limit: 1 };
  const rows = { filter: 'path != x', limit: 1, fields: ['path'] };
  let edits = 0;
  const edit = () => ({ edits: [{ path: 'a.txt', old: `one ${edits}`, new: `one ${++edits}` }] });
  let files = 0;
  const write = () => ({ path: `w${++files}`, content: 'x' });
  const calls = [
    ['make_targets', () => ({}), { filter: 'name = greet', fields: ['name'] }],
    ['make', () => ({ target: 'greet' }), lines],
    ['make', () => ({ target: 'fail' }), { items: 'stderr', ...lines }],
    ['make', () => ({ target: 'flood' }), lines],
    ['make', () => ({ target: 'flood' }), { items: 'json', filter: '. > 9' }],
    ['make', () => ({ target: 'greet', dry_run: true }), lines],
    ['bash', () => ({ command: 'echo one; cat /srv/none' }), lines],
    ['project_actions', () => ({ operation: 'greet' }), lines],
    ['glob', () => ({ pattern: '*' }), lines],
    ['grep', () => ({ pattern: 'one' }), lines],
    ['grep', () => ({ pattern: 'one', mode: 'content', context: 1 }), rows],
    ['grep', () => ({ pattern: 'one', mode: 'count' }), rows],
    ['read', () => ({ path: 'a.txt' }), lines],
    ['edit', edit, rows],
    ['git_add', () => ({ paths: ['a.txt'] }), rows],
    ['git_commit', () => ({ message: `m${++files}` }), rows],
    ['git_commit', () => ({ message: 'nothing is staged' }), rows],
    ['write', write, undefined],
    ['delete', () => ({ path: 'a.txt', dry_run: true }), undefined],
    ['makefile_generate', () => ({ language: 'go', working_directory: 'sub' }), undefined],
    ['pipeline', () => ({ steps: [{ id: 'a', tool: 'grep', args: { pattern: 'one' } }] }), lines],
    ['pipeline', () => ({ steps: [{ id: 'a', tool: 'glob', args: { pattern: '*' } }],
      return: { files: '{{a[*]}}', first: '{{a[0]}}' } }), { items: 'files', ...lines }],
    ['pipeline', () => ({ steps: [{ id: 'a', tool: 'read', args: { path: 'none' } }] }), lines],
    ['batch', () => ({ tool: 'read', items: [{ path: 'a.txt' }, { path: 'none' }] }),
      { filter: 'success = true', fields: ['index', 'data.path'] }],
    ['batch', () => ({ tool: 'read', items: [] }), { limit: 1 }],
    ['job', () => ({ action: 'list' }), { items: 'jobs', filter: 'state = running' }],
  ];
  try {
    const { tools } = await client.listTools();
    const tried = new Set();
    writeFileSync(join(project, 'a.txt'), 'one 0\ntwo\n');
    mkdirSync(join(project, 'sub'));
    for (const [tool, args, some] of calls) {
      for (const result of [undefined, some, { return_mode: 'summary' }, { return_mode: 'file' }]) {
        const reply = await client.callTool({ name: tool, arguments: { ...args(), ...(result && { result }) } });
        assert.notEqual(reply.structuredContent.error?.code, 'INVALID_ARGUMENT', JSON.stringify([tool, result, reply]));
        tried.add(tool);
        const { data } = reply.structuredContent;
        assert.ok(data, JSON.stringify([tool, result, reply]));
        if (data.file) rmSync(data.file.path);
        rmSync(join(project, 'sub', 'Makefile'), { force: true });
      }
    }
    assert.deepEqual([...tried].sort(), tools.map((tool) => tool.name).sort());
  } finally {
    await client.close();
  }
});

test('cancelling a call ends it and the connection lives on', async () => {
  const { project } = sampleProject();
  const client = await connected(project, { door: 'stdio', mode: 'auto' });
  try {
    const abort = new AbortController();
    const call = client.callTool({ name: 'make', arguments: { target: 'greet' } },
      { signal: abort.signal, onprogress: () => abort.abort() });
    await assert.rejects(call);
    assert.equal((await client.listTools()).tools.length, 16);
  } finally {
    await client.close();
  }
});

for (const era of ['legacy', 'auto', 'modern']) {
  test(`Inspector command line, ${era}`, () => {
    const { project } = sampleProject();
    const inspector = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname,
      'node_modules/.bin/mcp-inspector');
    const run = (...args) => JSON.parse(execFileSync(process.execPath,
      [inspector, '--cli', '--protocol-era', era, '--format', 'json', '--quiet', ...args,
        '--cwd', project, '--', server, ...options],
      { encoding: 'utf8', env: { ...process.env, HOME: project } }));
    const listed = run('--method', 'tools/list', '--strict');
    assert.equal((listed.result ?? listed).tools.length, 16);
    const called = run('--method', 'tools/call', '--tool-name', 'make', '--tool-args-json',
      '{"target":"greet"}');
    assert.equal((called.result ?? called).structuredContent.data.stdout, 'hello\nworld\n');
  });
}
