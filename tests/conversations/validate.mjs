// Checks every message that the server sends in a conversation against the official JSON Schema of the
// revision that is spoken at that point.
//
//   node validate.mjs MODULES SCHEMAS CONVERSATION...
//
// MODULES holds node_modules with ajv, SCHEMAS one REVISION.json each. Conversations are those of
// conversation_test.cc: `> ` what the client sends, `< ` what the server does. What passes is then
// spoiled, by leaving out each member that the schema requires, and must be refused: a check that
// accepts everything would not be noticed otherwise.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';

const [modules, schemas, ...conversations] = process.argv.slice(2);
const require = createRequire(join(resolve(modules), 'package.json'));
const addFormats = require('ajv-formats').default;

const MODERN = '2026-07-28';
const NEWEST_LEGACY = '2025-11-25';
const DRAFT_07 = ['2024-11-05', '2025-03-26', '2025-06-18'];
const REVISIONS = [...DRAFT_07, NEWEST_LEGACY, MODERN];

const RESULTS = {
  initialize: 'InitializeResult',
  ping: 'EmptyResult',
  'server/discover': 'DiscoverResult',
  'subscriptions/listen': 'SubscriptionsListenResult',
  'tools/list': 'ListToolsResult',
  'tools/call': 'CallToolResult',
  'resources/list': 'ListResourcesResult',
  'resources/templates/list': 'ListResourceTemplatesResult',
  'resources/read': 'ReadResourceResult',
  'resources/subscribe': 'EmptyResult',
  'resources/unsubscribe': 'EmptyResult',
  'prompts/list': 'ListPromptsResult',
  'prompts/get': 'GetPromptResult',
  'completion/complete': 'CompleteResult',
  'logging/setLevel': 'EmptyResult',
};
const NOTIFICATIONS = {
  'notifications/cancelled': 'CancelledNotification',
  'notifications/progress': 'ProgressNotification',
  'notifications/message': 'LoggingMessageNotification',
  'notifications/resources/updated': 'ResourceUpdatedNotification',
  'notifications/tools/list_changed': 'ToolListChangedNotification',
  'notifications/prompts/list_changed': 'PromptListChangedNotification',
  'notifications/subscriptions/acknowledged': 'SubscriptionsAcknowledgedNotification',
};

function newAjv(draft07) {
  const Ajv = require(draft07 ? 'ajv' : 'ajv/dist/2020.js').default;
  return addFormats(new Ajv({ strict: false, allErrors: true }));
}

// The definitions of one revision.
class Schema {
  constructor(revision) {
    this.document = JSON.parse(readFileSync(join(schemas, `${revision}.json`), 'utf8'));
    this.root = this.document.$defs ? '$defs' : 'definitions';
    this.ajv = newAjv(this.root === 'definitions').addSchema(this.document, revision);
    this.revision = revision;
  }

  // The first of `names` that this revision has.
  check(value, ...names) {
    const name = names.find((candidate) => candidate in this.document[this.root]);
    if (name === undefined) throw new Error(`${this.revision} has no ${names.join(' or ')}`);
    const validate = this.ajv.getSchema(`${this.revision}#/${this.root}/${name}`);
    if (!validate(value)) {
      throw new Error(`no ${name} of ${this.revision}: ${this.ajv.errorsText(validate.errors)}`);
    }
    for (const member of this.document[this.root][name].required ?? []) {
      const { [member]: _, ...spoiled } = value;
      if (validate(spoiled)) throw new Error(`${name} of ${this.revision} passes without ${member}`);
    }
  }
}

const loaded = Object.fromEntries(REVISIONS.map((revision) => [revision, new Schema(revision)]));
const checked = Object.fromEntries(REVISIONS.map((revision) => [revision, 0]));

class Conversation {
  legacy = NEWEST_LEGACY;
  inFlight = new Map(); // id as JSON -> {method, revision, name}
  tokens = new Map(); // progressToken as JSON -> revision
  outputs = new Map(); // tool -> validator of its structuredContent

  fromClient(text) {
    let message;
    try {
      message = JSON.parse(text);
    } catch {
      return; // broken on purpose
    }
    if (Array.isArray(message)) return message.forEach((one) => this.fromClient(JSON.stringify(one)));
    if (message?.method === 'notifications/cancelled') {
      this.inFlight.delete(JSON.stringify(message.params?.requestId));
    }
    const id = JSON.stringify(message?.id);
    if (id === undefined || this.inFlight.has(id)) return;
    const meta = message.params?._meta;
    const claim = meta?.['io.modelcontextprotocol/protocolVersion'];
    const revision = claim === MODERN ? MODERN : this.legacy;
    this.inFlight.set(id, { method: message.method, revision, name: message.params?.name });
    this.tokens.set(JSON.stringify(meta?.progressToken), revision);
  }

  fromServer(text) {
    const message = JSON.parse(text);
    if (Array.isArray(message)) {
      this.schema(this.legacy).check(message, 'JSONRPCBatchResponse');
      return message.forEach((one) => this.fromServer(JSON.stringify(one)));
    }
    if ('method' in message && 'id' in message) return this.request(message);
    if ('method' in message) return this.notification(message);
    const id = JSON.stringify(message.id);
    const request = this.inFlight.get(id);
    if ('error' in message) return this.error(message, id, request);
    if (request === undefined) throw new Error('a result for a request that is not in flight');
    this.inFlight.delete(id);
    if (request.method === 'initialize') request.revision = this.legacy = message.result.protocolVersion;
    const schema = this.schema(request.revision);
    schema.check(message, 'JSONRPCResultResponse', 'JSONRPCResponse');
    if (message.result.resultType === 'input_required') return this.inputRequired(schema, message.result);
    schema.check(message.result, RESULTS[request.method]);
    if (request.method === 'tools/list') this.tools(message.result.tools);
    if (request.method === 'tools/call') this.structured(request, message.result);
  }

  inputRequired(schema, result) {
    schema.check(result, 'InputRequiredResult');
    for (const request of Object.values(result.inputRequests)) this.elicitation(schema, request);
  }

  elicitation(schema, request) {
    schema.check(request, 'ElicitRequest');
    schema.check(request.params, 'ElicitRequestFormParams', 'ElicitRequestParams');
  }

  // Of the legacy era; what a client answers is checked, too, since we recorded it.
  request(message) {
    const schema = this.schema(this.legacy);
    schema.check(message, 'JSONRPCRequest');
    if (schema.document[schema.root].ElicitRequestFormParams) return this.elicitation(schema, message);
    schema.check(message, 'ElicitRequest');
  }

  notification(message) {
    const tag = message.params?._meta?.['io.modelcontextprotocol/subscriptionId'];
    const ofCall = this.tokens.get(JSON.stringify(message.params?.progressToken));
    const revision = tag !== undefined ? MODERN : (ofCall ?? this.legacy);
    this.schema(revision).check(message, 'JSONRPCNotification');
    this.schema(revision).check(message, NOTIFICATIONS[message.method]);
  }

  error(message, id, request) {
    const taken = message.error.code === -32600; // by a request that goes on
    if (!taken) this.inFlight.delete(id);
    const unsupported = message.error.code === -32022;
    const schema = this.schema(unsupported ? MODERN : (request?.revision ?? NEWEST_LEGACY));
    schema.check(message, 'JSONRPCErrorResponse', 'JSONRPCError');
    if (unsupported) schema.check(message, 'UnsupportedProtocolVersionError');
  }

  tools(tools) {
    const ajv = newAjv(false);
    for (const tool of tools) {
      ajv.compile(tool.inputSchema);
      if (tool.outputSchema) this.outputs.set(tool.name, ajv.compile(tool.outputSchema));
    }
  }

  structured(request, result) {
    const validate = this.outputs.get(request.name);
    if (validate === undefined || !('structuredContent' in result)) return;
    if (validate(result.structuredContent)) return;
    throw new Error(`not of the tool's outputSchema: ${JSON.stringify(validate.errors)}`);
  }

  schema(revision) {
    ++checked[revision];
    return loaded[revision];
  }
}

let failures = 0;
for (const path of conversations) {
  const conversation = new Conversation();
  readFileSync(path, 'utf8').split('\n').forEach((line, index) => {
    try {
      if (line.startsWith('> ')) conversation.fromClient(line.slice(2));
      if (line.startsWith('< ')) conversation.fromServer(line.slice(2));
    } catch (error) {
      ++failures;
      console.error(`${basename(path)}:${index + 1}: ${error.message}\n  ${line}`);
    }
  });
}

const unchecked = REVISIONS.filter((revision) => checked[revision] === 0);
if (unchecked.length > 0) console.error(`nothing was checked of ${unchecked.join(', ')}`);
console.log(Object.entries(checked).map(([revision, count]) => `${revision}: ${count}`).join(', '));
process.exit(failures > 0 || unchecked.length > 0 ? 1 : 0);
