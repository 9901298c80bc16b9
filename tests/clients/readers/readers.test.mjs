// What `project-actions init` writes, as the clients themselves read it: Claude Code and Gemini CLI start the server
// and talk to it, Codex tells what it would start. PROJECT_ACTIONS names our program. Nothing here needs a network.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const modules = join(dirname(fileURLToPath(import.meta.url)), 'node_modules');
const programs = {
  // The package's own script finds this one; npm's scripts, which would link it, are not run.
  claude: join(modules, `@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`),
  codex: join(modules, '.bin/codex'),
  gemini: join(modules, '.bin/gemini'),
};
const ours = process.env.PROJECT_ACTIONS;
const args = ['serve', '--enable', 'make,makefile_generate,git_add,git_commit'];
const folders = [];
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

// A home and a project in it that the clients trust: in others they start nothing.
function sampleHome() {
  const home = realpathSync(mkdtempSync(join(process.env.TMPDIR ?? '/tmp', 'readers-')));
  folders.push(home);
  const project = join(home, 'project');
  const put = (file, text) => {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(home, file), text);
  };
  put('project/Makefile', '.PHONY: a\na:\n');
  put('.claude.json', JSON.stringify({ projects: { [project]: { hasTrustDialogAccepted: true } } }));
  put('project/.claude/settings.local.json', '{"enabledMcpjsonServers": ["project-actions", "other"]}');
  put('.gemini/trustedFolders.json', JSON.stringify({ [project]: 'TRUST_FOLDER' }));
  const env = {
    PATH: process.env.PATH, HOME: home, DISABLE_TELEMETRY: '1', DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', NO_COLOR: '1',
  };
  const run = (program, ...words) => {
    const result = spawnSync(program, words,
      { cwd: project, env, encoding: 'utf8', timeout: 120_000, stdio: ['ignore', 'pipe', 'pipe'] });
    return { status: result.status, text: result.stdout + result.stderr, stdout: result.stdout };
  };
  const init = (client, ...options) => {
    const result = run(ours, 'init', client, '--yes', ...options);
    assert.equal(result.status, 0, result.text);
  };
  return { home, project, put, run, init, env, read: (file) => readFileSync(join(home, file), 'utf8') };
}

test('Claude Code starts the server', () => {
  const { run, init } = sampleHome();
  init('claude-code');
  assert.match(run(programs.claude, 'mcp', 'list').text,
    new RegExp(`project-actions: ${ours} ${args.join(' ')} - .*Connected`));
});

// The token is in the client's environment alone.
test('Claude Code, Gemini CLI and Codex find a server that listens', async () => {
  const { home, project, run, init, env } = sampleHome();
  const token = run(ours, 'token', 'new', 'test').stdout.trim();
  const server = spawn(ours, ['serve', '--listen', 'http://127.0.0.1:0', '--root', project],
    { cwd: '/', env, stdio: ['ignore', 'ignore', 'pipe'] });
  try {
    const url = await new Promise((resolve) => {
      let said = '';
      server.stderr.on('data', (data) => {
        said += data;
        const found = said.match(/listening on (http:\S+)/);
        if (found) resolve(found[1]);
      });
    });
    init('claude-code', '--url', url);
    assert.doesNotMatch(run(programs.claude, 'mcp', 'list').text, /project-actions: .*Connected/);
    env.PROJECT_ACTIONS_TOKEN = token;
    assert.match(run(programs.claude, 'mcp', 'list').text, /project-actions: http.*Connected/);
    init('gemini', '--url', url);
    assert.match(run(programs.gemini, 'mcp', 'list').text, /project-actions.*Connected/);
    init('codex', '--url', url);
    const [entry] = JSON.parse(run(programs.codex, 'mcp', 'list', '--json').stdout);
    assert.equal(entry.transport.url, url);
    assert.equal(entry.transport.bearer_token_env_var, 'PROJECT_ACTIONS_TOKEN');
    assert.equal(readFileSync(join(home, '.codex/config.toml'), 'utf8').includes(token), false);
  } finally {
    server.kill();
  }
});

test('Claude Code: its own entry is changed, what else it holds stays', () => {
  const { run, init, read } = sampleHome();
  run(programs.claude, 'mcp', 'add', '--scope', 'project', 'other', '--', '/bin/false');
  run(programs.claude, 'mcp', 'add', '--scope', 'project', 'project-actions', '--env', 'A=b', '--', '/old', 'x');
  init('claude-code');
  const file = JSON.parse(read('project/.mcp.json'));
  assert.deepEqual(file.mcpServers['project-actions'], { type: 'stdio', command: ours, args, env: { A: 'b' } });
  const { text } = run(programs.claude, 'mcp', 'list');
  assert.match(text, /project-actions: .*Connected/);
  assert.match(text, /other: \/bin\/false/);
});

test('Gemini CLI starts the server, comments and other servers stay', () => {
  const { project, put, run, init, read } = sampleHome();
  put('project/.gemini/settings.json', '{\n  // mine\n  "mcpServers": {\n    "other": {"command": "/bin/false"} // x\n  }\n}\n');
  init('gemini');
  assert.match(read('project/.gemini/settings.json'), /\/\/ mine\n.*\n.*"other": \{"command": "\/bin\/false"\}, \/\/ x\n/);
  const { text } = run(programs.gemini, 'mcp', 'list');
  assert.match(text, new RegExp(`project-actions: ${ours} serve --root ${project} .* - Connected`));
  assert.match(text, /other: \/bin\/false/);
});

test('Gemini CLI: its own entry is changed', () => {
  const { run, init, read } = sampleHome();
  run(programs.gemini, 'mcp', 'add', '--scope', 'project', '-e', 'A=b', 'project-actions', '/old', 'x');
  init('gemini');
  const file = JSON.parse(read('project/.gemini/settings.json'));
  assert.deepEqual(file.mcpServers['project-actions'].env, { A: 'b' });
  assert.match(run(programs.gemini, 'mcp', 'list').text, /project-actions: .*Connected/);
});

const served = (project) => ['serve', '--root', project, '--enable', 'make,makefile_generate,git_add,git_commit'];
const codexEntry = (run) => JSON.parse(run(programs.codex, 'mcp', 'get', 'project-actions', '--json').stdout);

test('Codex would start the server', () => {
  const { project, put, run, init, read } = sampleHome();
  put('.codex/config.toml', 'model = "x" # mine\n[mcp_servers.other]\ncommand = "/bin/false"\n');
  init('codex');
  assert.match(read('.codex/config.toml'), /^model = "x" # mine\n/);
  const entry = codexEntry(run);
  assert.equal(entry.transport.command, ours);
  assert.deepEqual(entry.transport.args, served(project));
  assert.equal(entry.tool_timeout_sec, 600);
  assert.match(run(programs.codex, 'mcp', 'list').text, /^other .*enabled/m);
});

test('Codex: its own entry is changed, in whatever form it reads', () => {
  const { project, put, run, init } = sampleHome();
  run(programs.codex, 'mcp', 'add', 'project-actions', '--env', 'A=b', '--', '/old', 'x');
  const check = () => {
    init('codex');
    const { transport } = codexEntry(run);
    assert.equal(transport.command, ours);
    assert.deepEqual(transport.args, served(project));
    assert.deepEqual(transport.env, { A: 'b' });
  };
  check();
  for (const form of [
    'mcp_servers = { project-actions = { command = "/old", args = [], env = { A = "b" } } }\n',
    '[mcp_servers]\nproject-actions.command = "/old"\nproject-actions.args = []\nproject-actions.env.A = "b"\n',
    '[mcp_servers.project-actions.env]\nA = "b"\n[mcp_servers."project-actions"]\ncommand = """\n/old"""\n',
  ]) {
    put('.codex/config.toml', form);
    check();
  }
});

test('Claude Code and Gemini CLI read the settings that switch their own tools off', () => {
  const { put, run, init } = sampleHome();
  put('project/.claude/settings.json', '{"permissions": {"deny": ["Read(.env)"]}}');
  init('claude-code', '--exclusive');
  const claude = run(programs.claude, 'mcp', 'list').text;
  assert.match(claude, /project-actions: .*Connected/);
  assert.doesNotMatch(claude, /[Ii]nvalid|Error/);
  init('gemini', '--exclusive');
  const gemini = run(programs.gemini, 'mcp', 'list').text;
  assert.match(gemini, /project-actions: .*Connected/);
  assert.doesNotMatch(gemini, /[Ii]nvalid|Error in/);
  init('gemini', '--remove');
  assert.doesNotMatch(run(programs.gemini, 'mcp', 'list').text, /project-actions/);
});

test('Codex has its shell switched off, and on again', () => {
  const { put, run, init } = sampleHome();
  put('.codex/config.toml', 'model = "x" # mine\n');
  const shell = () => run(programs.codex, 'features', 'list').text.match(/^shell_tool\s.*?(true|false)\s*$/m)?.[1];
  assert.equal(shell(), 'true');
  init('codex', '--exclusive');
  assert.equal(shell(), 'false');
  assert.equal(codexEntry(run).transport.command, ours);
  init('codex', '--remove');
  assert.equal(shell(), 'true');
  assert.notEqual(run(programs.codex, 'mcp', 'get', 'project-actions').status, 0);
});

test('what a client cannot read is refused, as the client refuses it', () => {
  const { put, run } = sampleHome();
  const refused = (client, file, text) => {
    put(file, text);
    assert.equal(run(ours, 'init', client, '--yes').status, 1, `${client}: ${text}`);
  };
  refused('claude-code', 'project/.mcp.json', '{"mcpServers": {} /* x */}');
  assert.match(run(programs.claude, 'mcp', 'list').text, /not a valid JSON/);
  refused('gemini', 'project/.gemini/settings.json', '{"mcpServers": {},}');
  assert.match(run(programs.gemini, 'mcp', 'list').text, /Error in .*settings.json/);
  refused('codex', '.codex/config.toml', 'model = \n');
  assert.notEqual(run(programs.codex, 'mcp', 'list').status, 0);
});
