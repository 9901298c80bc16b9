// http.mjs bare|sdk ANSWER: an HTTP server on a free port of 127.0.0.1, which it prints. ANSWER is a file with the
// answer to tools/list. bare: Node's own http, which sends it to whoever asks. sdk: the official SDK behind express,
// stateless, a server for each request, as its examples have it; `read` reads a file.
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [mode, file] = process.argv.slice(2);
const answer = readFileSync(file);

function bare() {
  return createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      JSON.parse(Buffer.concat(parts).toString());
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': answer.length });
      response.end(answer);
    });
  });
}

async function sdk() {
  const own = createRequire(join(import.meta.dirname, 'node_modules/@modelcontextprotocol/server-filesystem/package.json'));
  const { Server } = own('@modelcontextprotocol/sdk/server/index.js');
  const { StreamableHTTPServerTransport } = own('@modelcontextprotocol/sdk/server/streamableHttp.js');
  const { CallToolRequestSchema, ListToolsRequestSchema } = own('@modelcontextprotocol/sdk/types.js');
  const express = createRequire(join(import.meta.dirname, 'node_modules/express/package.json'))('express');
  const { tools } = JSON.parse(answer.toString()).result;
  const app = express();
  app.use(express.json());
  app.post('/mcp', async (request, response) => {
    const server = new Server({ name: 'peer', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params }) => (
      { content: [{ type: 'text', text: await readFile(params.arguments.path, 'utf8') }] }));
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
    response.on('close', () => {
      transport.close();
      server.close();
    });
    await server.connect(transport);
    await transport.handleRequest(request, response, request.body);
  });
  return createServer(app);
}

const server = mode === 'bare' ? bare() : await sdk();
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
