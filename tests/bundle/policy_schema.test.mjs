// The JSON Schema that `policy schema` prints, by which editors help, accepts the policies of docs/examples, and not
// what is wrong with them when one key is.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import Ajv from 'ajv/dist/2020.js';
import { parse } from 'yaml';

const schema = JSON.parse(execFileSync(process.env.PROJECT_ACTIONS, ['policy', 'schema'], { encoding: 'utf8' }));
const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(schema);
const files = readdirSync(process.env.EXAMPLES).filter((name) => name.endsWith('.yaml'));

test('there are examples', () => assert.equal(files.length, 4));

for (const name of files) {
  test(name, () => {
    const policy = parse(readFileSync(join(process.env.EXAMPLES, name), 'utf8'));
    assert.ok(validate(policy), JSON.stringify(validate.errors));
    const spoil = [
      (copy) => { copy.permision = []; }, (copy) => { copy.network = 'some'; },
      (copy) => { copy.permissions[0].decision = 'maybe'; }, (copy) => { copy.version = 2; },
      (copy) => { copy.filesystem.reed = []; }, (copy) => delete copy.permissions.at(-1).tool];
    for (const change of spoil) {
      const copy = structuredClone(policy);
      change(copy);
      assert.ok(!validate(copy), change.toString());
    }
  });
}
