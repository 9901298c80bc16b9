// http.mjs bare|sdk ANSWER: an HTTP server on a free port of 127.0.0.1, which it prints. ANSWER is a file with the
// answer to tools/list. bare: Node's own http, which sends it to whoever asks. sdk: the official SDK behind express,
// stateless, a server for each request, as its examples have it; /files has read_text_file of server-filesystem, with
// its own functions, for the directory in which this runs.
import { readFileSync } from 'node:fs';
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
  const files = join(import.meta.dirname, 'node_modules/@modelcontextprotocol/server-filesystem');
  const own = createRequire(join(files, 'package.json'));
  const { Server } = own('@modelcontextprotocol/sdk/server/index.js');
  const { McpServer } = own('@modelcontextprotocol/sdk/server/mcp.js');
  const { StreamableHTTPServerTransport } = own('@modelcontextprotocol/sdk/server/streamableHttp.js');
  const { ListToolsRequestSchema } = own('@modelcontextprotocol/sdk/types.js');
  const { z } = own('zod');
  const { readFileContent, setAllowedDirectories, validatePath } = await import(join(files, 'dist/lib.js'));
  const express = createRequire(join(import.meta.dirname, 'node_modules/express/package.json'))('express');
  setAllowedDirectories([process.cwd()]);
  const { tools } = JSON.parse(answer.toString()).result;

  function lister() {
    const server = new Server({ name: 'peer', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
    return server;
  }
  function reader() {
    const server = new McpServer({ name: 'secure-filesystem-server', version: '1' });
    server.registerTool('read_text_file', { inputSchema: { path: z.string() }, outputSchema: { content: z.string() } },
      async ({ path }) => {
        const content = await readFileContent(await validatePath(path));
        return { content: [{ type: 'text', text: content }], structuredContent: { content } };
      });
    return server;
  }
  const serving = (make) => async (request, response) => {
    const server = make();
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
    response.on('close', () => {
      transport.close();
      server.close();
    });
    await server.connect(transport);
    await transport.handleRequest(request, response, request.body);
  };
  const app = express();
  app.use(express.json());
  app.post('/mcp', serving(lister));
  app.post('/files', serving(reader));
  return createServer(app);
}

const server = mode === 'bare' ? bare() : await sdk();
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
