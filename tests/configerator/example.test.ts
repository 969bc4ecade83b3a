import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from '../../configerator/compiler/compile';
import { folderTree } from '../../configerator/compiler/tree';
import { parsePipeline } from '../../domain/spec/parse';
import { ROOT } from '../setup/sources';

// `conveyor dev --config` releases it for real in tests/system/dev.long.test.ts.

test('the folder of examples/config compiles to the limits that its guide shows', async () => {
  const { values, problems } = await compile(folderTree(join(ROOT, 'examples/config/flags')));
  expect(problems).toEqual([]);
  expect(values.map(({ path, text }) => [path, JSON.parse(text) as unknown])).toEqual([
    ['feed/limits', { soft: 50, hard: 100 }],
  ]);
});

test('the pipeline of examples/config owns what it looks for, and lints without an error', () => {
  const { spec, problems } = parsePipeline(readFileSync(join(ROOT, 'examples/config/pipeline.yaml'), 'utf8'));
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  const { deploy } = spec?.actions ?? {};
  expect(deploy?.type === 'deploy' && deploy.with.config).toEqual(spec?.artifacts['limits']?.with);
});
