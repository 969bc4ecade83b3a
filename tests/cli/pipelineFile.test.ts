import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPipelineFile } from '../../cli/pipelineFile';

describe('a pipeline in TypeScript', () => {
  const before = process.env['TMPDIR'];
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'conveyor-pipeline-'));
    process.env['TMPDIR'] = mkdtempSync(join(folder, 'tmp-'));
  });

  afterEach(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    rmSync(folder, { recursive: true });
  });

  test('leaves no compiled copy in the temporary folder, where another user could plant one', async () => {
    const file = join(folder, 'web.ts');
    writeFileSync(
      file,
      "const name: string = 'web';\nexport const pipeline = { pipeline: name, owners: ['user:a'], actions: [] };\n",
    );
    await readPipelineFile(file, 0);
    expect(readdirSync(process.env['TMPDIR'] ?? '')).toEqual([]);
  });
});
