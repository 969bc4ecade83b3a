import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipelineJsonSchema } from '../../../domain/spec/jsonSchema';

const FILE = join(__dirname, '../../../conveyor.schema.json');

test('the schema that editors use is the schema that lint uses (UPDATE_SCHEMA=1 writes it anew)', () => {
  const schema = `${JSON.stringify(pipelineJsonSchema(), null, 2)}\n`;
  if (process.env['UPDATE_SCHEMA'] === '1') writeFileSync(FILE, schema);
  expect(readFileSync(FILE, 'utf8')).toBe(schema);
});

test('editors underline unknown keys and complete known ones', () => {
  const schema = pipelineJsonSchema() as { additionalProperties: boolean; required: string[]; properties: object };
  expect(schema.additionalProperties).toBe(false);
  expect(schema.required).toEqual(['pipeline', 'owners', 'actions']);
  expect(Object.keys(schema.properties)).toContain('releases');
});
